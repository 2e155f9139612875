import { TroupeError } from "../../core/errors.ts";
import type { RequestUsage } from "../../core/models/llm-messages.ts";
import type { RunRecord } from "../storage/run-store.ts";

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

/** The error of a run that has used up its tokens: no further step may begin. */
export function tokenLimitError({
  record,
  usage,
}: {
  record: Pick<RunRecord, "max_total_tokens">;
  usage: RequestUsage;
}): TroupeError | undefined {
  const { max_total_tokens } = record;
  if (max_total_tokens === null) return undefined;
  const used = usage.prompt_tokens + usage.completion_tokens;
  if (used <= max_total_tokens) return undefined;
  return new TroupeError(
    "token_limit",
    `the run used ${used} tokens, more than its limit of ${max_total_tokens}`,
  );
}
