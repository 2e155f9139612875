// Checks of settings without zod: every start of the Worker reads settings, and zod is only loaded when a request
// brings data to check.

import type { Issue } from "./errors.ts";
import { pathOf } from "./issues.ts";
import { isJsonObject } from "./json.ts";

/** A check of a field. */
export interface FieldRule {
  accepts: (value: unknown) => boolean;
  /** The text of the issue: `must be ...`. */
  message: string;
  optional?: true;
}

/** The mistakes in an object that must have exactly these fields. @param path where the object is */
export function fieldIssues(
  value: unknown,
  rules: { readonly [field: string]: FieldRule },
  path: string,
): Issue[] {
  if (!isJsonObject(value)) return [{ path, message: "must be an object" }];
  const issues: Issue[] = [];
  for (const [field, { accepts, message, optional }] of Object.entries(rules)) {
    const given = Object.hasOwn(value, field) ? value[field] : undefined;
    if (given === undefined && optional) continue;
    if (!accepts(given)) issues.push({ path: pathOf([field], path), message });
  }
  for (const field of Object.keys(value)) {
    if (Object.hasOwn(rules, field)) continue;
    issues.push({ path: pathOf([field], path), message: "is not a known field" });
  }
  return issues;
}
