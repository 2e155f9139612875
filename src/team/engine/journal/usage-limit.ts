import { type RunUsage, totalCost } from "../../../contract/usage/model-usage.ts";
import { TroupeError } from "../../../core/errors.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";

/** The error of a run whose model calls exceed one of its limits: no further step may begin. */
export function usageLimitError(active: {
  readonly record: Pick<RunRecord, "max_total_tokens" | "max_cost">;
  readonly usage: RunUsage;
}): TroupeError | undefined {
  const { max_total_tokens, max_cost = null } = active.record;
  if (max_total_tokens === null && max_cost === null) return undefined;
  const { usage, models } = active.usage;
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  if (max_total_tokens !== null && tokens > max_total_tokens) {
    return new TroupeError(
      "token_limit",
      `the run used ${tokens} tokens, more than its limit of ${max_total_tokens}`,
    );
  }
  const cost = totalCost(models) ?? 0;
  if (max_cost !== null && cost > max_cost) {
    const { estimated_tokens = 0 } = usage;
    const estimate =
      estimated_tokens === 0
        ? ""
        : ` (${estimated_tokens} of its ${tokens} tokens are estimated: no server has reported them)`;
    return new TroupeError(
      "cost_limit",
      `the run cost ${cost}, more than its limit of ${max_cost}${estimate}`,
    );
  }
  return undefined;
}
