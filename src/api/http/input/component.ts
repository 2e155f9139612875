import type { ComponentRoles } from "../../../core/component/checks/find-issues.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import type { Note } from "../../../core/component/component.ts";
import type { Issue } from "../../../core/errors.ts";
import { pathOf } from "../../../core/issues.ts";
import type { JsonObject } from "../../../core/json.ts";
import { userInfoIssues } from "../../../secrets/url-secrets.ts";
import { invalid, type ProblemError } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";

/** The types of component that a team object can run. */
const RUNNABLE = ["team", "agent"] as const;

/**
 * Prepares a component of a request and checks it, all mistakes at once. The notes are on what was given and on what was
 * made of it.
 *
 * @param shown the component of the team that this one replaces: its stored secrets may come back as redacted ones
 * @param path where it is in the request
 * @throws ProblemError 422 with paths below `path`
 * @throws TroupeError `sandbox_unavailable`
 */
export async function preparedComponent(
  component: JsonObject,
  services: Pick<Services, "components" | "limits" | "redactedSecrets">,
  roles?: ComponentRoles,
  shown: JsonObject = {},
  path = "component",
): Promise<{ component: JsonObject; notes: Note[] }> {
  // Before anything is made of it: the limit is to save that work.
  let issues = [
    ...longLists(component, services.limits.max_participants, path),
    ...userInfoIssues(component, path),
  ];
  if (issues.length > 0) throw refused(issues);
  const resolved = services.redactedSecrets.resolve(component, shown);
  const prepared = await services.components.prepare(resolved.component, path);
  const inspected = await services.components.inspect(prepared, roles, path);
  issues = [...resolved.issues, ...inspected.issues];
  if (issues.length > 0) throw refused(issues);
  return { component: prepared, notes: [...resolved.notes, ...inspected.notes] };
}

/** The same for the component of a team: a team or an agent. */
export async function preparedRunnable(
  component: JsonObject,
  services: Services,
  shown?: ComponentModel,
): Promise<{ component: ComponentModel; notes: Note[] }> {
  const prepared = await preparedComponent(component, services, RUNNABLE, shown);
  return { ...prepared, component: prepared.component as ComponentModel };
}

function refused(issues: Issue[]): ProblemError {
  return invalid("invalid_component", "The component cannot be loaded.", issues);
}

/** Lists of participants that are too long, at any depth. */
function longLists(value: unknown, limit: number, path: string): Issue[] {
  if (typeof value !== "object" || value === null) return [];
  const issues: Issue[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const place = pathOf([Array.isArray(value) ? Number(key) : key], path);
    if (key === "participants" && Array.isArray(inner) && inner.length > limit) {
      issues.push({
        path: place,
        message: `has ${inner.length} members; at most ${limit} are allowed`,
      });
    } else {
      issues.push(...longLists(inner, limit, place));
    }
  }
  return issues;
}
