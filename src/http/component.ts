import type { ComponentModel } from "../core/component/component.ts";
import type { Issue } from "../core/errors.ts";
import { pathOf } from "../core/issues.ts";
import type { JsonObject } from "../core/json.ts";
import { invalid } from "./problem.ts";
import type { Services } from "./services.ts";

/** What a team object can run. */
const RUNNABLE = ["team", "agent"] as const;

/**
 * Checks a component as it came in, all mistakes at once.
 *
 * @throws ProblemError 422 with paths below `component`
 */
export function checkComponent(
  component: JsonObject,
  services: Pick<Services, "components" | "limits">,
  roles?: typeof RUNNABLE,
): void {
  // Sizes first: making everybody of a crowd is the work that the limit is to save.
  let issues = crowds(component, services.limits.max_participants);
  if (issues.length === 0) issues = services.components.validate(component, roles, "component");
  if (issues.length === 0) return;
  throw invalid("invalid_component", "The component cannot be loaded.", issues);
}

/** The same for a component that is to become a team: a team or an agent. */
export function checkRunnable(component: JsonObject, services: Services): ComponentModel {
  checkComponent(component, services, RUNNABLE);
  return component as unknown as ComponentModel;
}

/** Lists of participants that are too long, wherever they stand. */
function crowds(value: unknown, limit: number, path = "component"): Issue[] {
  if (typeof value !== "object" || value === null) return [];
  const issues: Issue[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const place = pathOf([Array.isArray(value) ? Number(key) : key], path);
    if (key === "participants" && Array.isArray(inner) && inner.length > limit) {
      issues.push({ path: place, message: `are ${inner.length}; at most ${limit} are allowed` });
    } else {
      issues.push(...crowds(inner, limit, place));
    }
  }
  return issues;
}
