import type * as z from "zod";
import { StateError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";

/**
 * A saved state that has the form of `schema`.
 *
 * @param what it has to be: `the state of "writer"`
 * @throws StateError that names each place which is not as it has to be
 */
export function parseState<T>(schema: z.ZodType<T>, state: unknown, what: string): T {
  const { data, error } = schema.safeParse(state);
  if (error === undefined) return data;
  const issues = issuesOf(error);
  throw new StateError(`not ${what}: ${listIssues(issues)}`, { issues });
}
