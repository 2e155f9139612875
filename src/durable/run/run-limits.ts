import { TroupeError } from "../../core/errors.ts";
import { type RunUsage, totalCost } from "../../contract/usage/model-usage.ts";
import type { RunRecord } from "../storage/runs/run-store.ts";

/**
 * Milliseconds until the run's time limit; null without one.
 *
 * @param ran milliseconds the run has been running
 */
export function timeLeft(
  { timeout_seconds, ran_before }: Pick<RunRecord, "timeout_seconds" | "ran_before">,
  ran: number,
): number | null {
  return timeout_seconds === null ? null : timeout_seconds * 1000 - (ran - ran_before);
}

export function timeLimitError({
  timeout_seconds,
}: Pick<RunRecord, "timeout_seconds">): TroupeError {
  return new TroupeError("run_timeout", `the run took longer than ${timeout_seconds} seconds`);
}

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
