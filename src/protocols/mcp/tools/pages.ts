import { invalid } from "../../../http/problem.ts";

/** The place that the cursor of a list names: how many items come before it. @throws ProblemError 422 */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw invalid("invalid_cursor", "cursor must be the nextCursor of an earlier page.", [
    { path: "cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
