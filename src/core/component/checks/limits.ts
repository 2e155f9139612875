import { ComponentError, type Issue } from "../../errors.ts";
import { isJsonObject } from "../../json.ts";

/** Limits that protect the loader from oversized component JSON. */
export interface ComponentLimits {
  /** The deepest nesting of components. */
  depth: number;
  /** The most components. */
  components: number;
}

export const DEFAULT_LIMITS: ComponentLimits = { depth: 32, components: 1000 };

/** The deepest nesting of objects and lists per level of components: enough for any schema, and safe for the stack. */
const NESTING_PER_LEVEL = 16;

/** True if a value has the shape of component JSON. */
export function looksLikeComponent(value: unknown): value is { provider: string; config: object } {
  return isJsonObject(value) && typeof value.provider === "string" && isJsonObject(value.config);
}

/**
 * The limit that is exceeded, or undefined. Does not recurse, so that depth cannot exhaust the stack.
 *
 * @param visit called for each component until then
 */
export function exceededLimit(
  model: unknown,
  path: string,
  limits: ComponentLimits,
  visit?: (component: { provider: string }) => void,
): Issue | undefined {
  if (!isContainer(model)) return undefined;
  const open: { value: object; depth: number; nesting: number }[] = [
    { value: model, depth: 0, nesting: 0 },
  ];
  let components = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, nesting } = next;
    let { depth } = next;
    if (looksLikeComponent(value)) {
      depth++;
      components++;
      visit?.(value);
    }
    if (components > limits.components) {
      return { path, message: `has more than ${limits.components} components` };
    }
    if (depth > limits.depth || nesting > limits.depth * NESTING_PER_LEVEL) {
      return { path, message: `is nested deeper than ${limits.depth} components` };
    }
    for (const inner of Object.values(value)) {
      if (isContainer(inner)) open.push({ value: inner, depth, nesting: nesting + 1 });
    }
  }
  return undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** @throws ComponentError `value` when `model` exceeds a limit */
export function requireWithinLimits(model: unknown, path: string, limits: ComponentLimits): void {
  const issue = exceededLimit(model, path, limits);
  if (issue)
    throw new ComponentError("value", `${issue.path} ${issue.message}`, { issues: [issue] });
}
