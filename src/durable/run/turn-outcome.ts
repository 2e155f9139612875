import { TroupeError } from "../../core/errors.ts";
import type { Progress } from "../../core/run/runnable.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Outcome } from "./run-outcome.ts";

/** How a run ends that was asked to stop after its turn; the reason is AutoGen's text. */
export const STOPPED: Outcome = {
  status: "completed",
  stopReason: "External termination requested",
};

/** Whether a run ends with a turn that came to its end, and how. */
export function outcomeOfTurn(active: ActiveRun, progress: Progress): Outcome | undefined {
  const error = overBudget(active);
  if (error) return { status: "failed", error };
  return progress.done ? { status: "completed", stopReason: progress.stopReason } : undefined;
}

/** Says why no further step may begin: the run's tokens are used up. */
export function overBudget({ record, usage }: ActiveRun): TroupeError | undefined {
  const { max_total_tokens } = record;
  if (max_total_tokens === null) return undefined;
  const used = usage.prompt_tokens + usage.completion_tokens;
  if (used <= max_total_tokens) return undefined;
  return new TroupeError(
    "token_limit",
    `the run used ${used} tokens, more than its limit of ${max_total_tokens}`,
  );
}
