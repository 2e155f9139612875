import { TroupeError } from "../../core/errors.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Stores } from "../storage/stores.ts";

/** Restarts in a row after which nothing new had been recorded. */
const MOST_RECOVERIES = 10;

/**
 * Counts restarts that found nothing new: something in the run may be what ends us.
 *
 * @throws TroupeError `recovery_limit`
 */
export function countRecovery(
  { steps, log, runs }: Stores,
  { record, stored, next }: ActiveRun,
): void {
  const mark = `${next}:${steps.finished}:${log.last}`;
  record.recoveries = record.recovery_mark === mark ? record.recoveries + 1 : 1;
  record.recovery_mark = mark;
  if (record.recoveries > MOST_RECOVERIES) {
    throw new TroupeError(
      "recovery_limit",
      `the run was interrupted ${MOST_RECOVERIES} times in a row without getting any further`,
    );
  }
  runs.update(stored);
}
