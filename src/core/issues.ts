import type * as z from "zod";
import type { Issue } from "./errors.ts";
import { issueText } from "./issue-text.ts";

/** A path in a JSON value, below `base`: `participants[0].config`. */
export function pathOf(keys: readonly PropertyKey[], base = ""): string {
  let path = base;
  for (const key of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else path += path === "" ? String(key) : `.${String(key)}`;
  }
  return path;
}

/**
 * The issues of a zod error, one per path below `base`. For a union, only the alternative that fits best is
 * reported: the other alternatives would hide the likely mistake.
 */
export function issuesOf(error: Pick<z.core.$ZodError, "issues">, base = ""): Issue[] {
  return error.issues.flatMap((issue) => issueList(issue, [], base));
}

function issueList(issue: z.core.$ZodIssue, above: readonly PropertyKey[], base: string): Issue[] {
  const keys = [...above, ...issue.path];
  if (issue.code === "invalid_union") {
    const best = closest(issue.errors);
    if (best !== undefined) return best.flatMap((inner) => issueList(inner, keys, base));
  }
  if (issue.code === "unrecognized_keys") {
    const message = issueText(issue);
    return issue.keys.map((key) => ({ path: pathOf([...keys, key], base), message }));
  }
  return [{ path: pathOf(keys, base), message: issueText(issue) }];
}

/** For `safeParse` of what people send: an unknown field is reported with those that are known in its place. */
export const namesKnownFields: z.core.$ZodErrorMap = ({ code, inst }) => {
  if (code !== "unrecognized_keys") return undefined;
  const { def } = (inst as z.core.$ZodTypes)._zod;
  const names = def.type === "object" ? Object.keys(def.shape) : [];
  return names.length === 0 ? undefined : `is not a known field; use ${names.join(", ")}`;
};

/** The alternative with a mistake deepest inside; undefined when none fits better than the others. */
function closest(alternatives: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue[] | undefined {
  const depths = alternatives.map((issues) => greatest(issues.map(({ path }) => path.length)));
  const deepest = greatest(depths);
  const best = alternatives.filter((_, index) => depths[index] === deepest);
  return best.length === 1 ? best[0] : undefined;
}

/** Without spread arguments, of which there may be about 120,000: a list may have as many mistakes as it has items. */
function greatest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), -Infinity);
}

/** Issues as the end of a sentence: `a.b: is missing; c: expected text`. */
export function listIssues(issues: readonly Issue[]): string {
  return issues
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ");
}
