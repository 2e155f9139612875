import type { JsonObject } from "../json.ts";
import type { Approval } from "./approval-rule.ts";
import { judge, type Judged } from "./judge.ts";

/** The earlier calls that a decision depends on. */
export interface EarlierCalls {
  /** The calls of the tool in the run before this one. */
  count: number;
  /** True if one was approved. */
  approved: boolean;
}

/** A condition that made the rule ask, and the value that it looked at. */
export type Matched = Pick<Judged, "condition" | "value">;

/**
 * Decides if a human has to approve a call. Undefined if not; otherwise the conditions that hold or that cannot be compared, none
 * for an approval without conditions.
 *
 * @param values the arguments as the tool gets them; of code, one for each block
 */
export function judgeCall(
  approval: Approval,
  values: readonly JsonObject[],
  { count, approved }: EarlierCalls,
): Matched[] | undefined {
  if (approval === "human") return [];
  if (approval === "once") return approved ? undefined : [];
  const { when = [] } = approval;
  if (when.length === 0) return [];
  const matched = values
    .flatMap((each) => judge(when, { values: each, callsInRun: count + 1 }))
    .filter(({ outcome }) => outcome !== "fails")
    .map(({ condition, value }) => ({ condition, value }));
  return matched.length === 0 ? undefined : matched;
}
