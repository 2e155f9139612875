import type { Progress } from "../../../core/run/runnable.ts";
import type { ActiveRun } from "../active-run.ts";
import { usageLimitError } from "../run-limits.ts";
import type { Outcome } from "../run-outcome.ts";

/** The run's outcome after a completed turn; undefined when the run goes on. */
export function outcomeOfTurn(active: ActiveRun, progress: Progress): Outcome | undefined {
  const error = usageLimitError(active);
  if (error) return { status: "failed", error };
  return progress.done ? { status: "completed", stopReason: progress.stopReason } : undefined;
}
