import type { Issue } from "../core/errors.ts";
import type { ComponentModel } from "../core/component/component.ts";
import { pathOf } from "../core/issues.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { Limits } from "./limits.ts";
import { invalid } from "./problem.ts";
import type { Services } from "./services.ts";

/**
 * Checks a component as it came in, all mistakes at once.
 *
 * @throws ProblemError 422 with paths below `component`
 */
export function checkComponent(
  component: JsonObject,
  { components, limits }: Pick<Services, "components" | "limits">,
): ComponentModel {
  // Sizes first: checking a bomb is what it is made for.
  let issues: readonly Issue[] = sizeIssues(component, limits);
  if (issues.length === 0) {
    issues = components.validate(component).map(({ path, message }) => ({
      path: path.startsWith("[")
        ? `component${path}`
        : ["component", path].filter(Boolean).join("."),
      message,
    }));
  }
  if (issues.length > 0) {
    throw invalid("invalid_component", "The component cannot be loaded.", issues);
  }
  return component as unknown as ComponentModel;
}

function sizeIssues(root: JsonObject, limits: Limits): Issue[] {
  const issues: Issue[] = [];
  let count = 0;
  // An own stack: the depth of the JSON is limited, that of ours should not depend on it.
  const open: { value: unknown; path: string; depth: number }[] = [
    { value: root, path: "component", depth: 0 },
  ];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, path } = item;
    let { depth } = item;
    if (typeof value !== "object" || value === null) continue;
    if (isComponent(value)) {
      count++;
      depth++;
      if (depth > limits.max_component_depth) {
        issues.push({
          path,
          message: `lies in more than ${limits.max_component_depth} components`,
        });
        continue;
      }
      const { participants } = value.config;
      if (Array.isArray(participants) && participants.length > limits.max_participants) {
        issues.push({
          path: `${path}.config.participants`,
          message: `are ${participants.length}; at most ${limits.max_participants} are allowed`,
        });
      }
    }
    for (const [key, inner] of Object.entries(value)) {
      open.push({
        value: inner,
        path: pathOf([Array.isArray(value) ? Number(key) : key], path),
        depth,
      });
    }
  }
  if (count > limits.max_components) {
    issues.push({
      path: "component",
      message: `holds ${count} components; at most ${limits.max_components} are allowed`,
    });
  }
  return issues;
}

function isComponent(value: object): value is { provider: string; config: JsonObject } {
  return (
    "provider" in value &&
    typeof value.provider === "string" &&
    "config" in value &&
    isJsonObject(value.config)
  );
}
