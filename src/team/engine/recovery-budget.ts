import { TroupeError } from "../../core/errors.ts";
import type { LogEntry } from "../../core/log.ts";
import { traceIdOf } from "../../telemetry/spans/trace-context.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";
import { recovered } from "./run-state.ts";

/** Restarts in a row that a run survives without progress. */
const MOST_RECOVERIES = 10;

/** Restarts that may have been caused by the run without other restarts; from then on it is suspected. */
const UNSUSPECTED_RECOVERIES = 1;

/**
 * Restarts of a suspect that did not count against it, after which it runs alone. More than twice what another run may
 * cause before it fails.
 */
const MOST_UNCOUNTED = 25;

/** A run that was interrupted too often. */
export interface RecoveryLimit {
  error: TroupeError;
  /** The step that was under way, if it is known. */
  step: string | null;
}

/**
 * Counts a restart of the run. The caller has to make the count durable before the turn continues: the turn may be what kills the
 * object.
 *
 * @returns why the run fails; undefined as long as it continues
 */
export function countRecovery(stores: Stores, active: ActiveRun): RecoveryLimit | undefined {
  const { record, turnOfRun, turnOfTeam, turnStarted } = active;
  const { log, questions, steps } = stores;
  active.become(
    recovered(record, {
      turn: turnOfTeam,
      interrupted: Math.max(turnStarted.at, steps.lastAt),
      now: Date.now(),
      event: log.last,
      progress: [turnOfRun, steps.finished, questions.answered(record.id)],
    }),
  );
  if (active.record.recoveries <= MOST_RECOVERIES) return undefined;
  return { error: limitError(active), step: record.suspicion?.step?.key ?? null };
}

/** True if the run may be the cause of its restarts. */
export function isSuspected({ recoveries }: Pick<RunRecord, "recoveries">): boolean {
  return recoveries > UNSUSPECTED_RECOVERIES;
}

/** True if a suspect has to run alone: nothing has shown the cause of its restarts. */
export function isUnexplained({ suspicion }: Pick<RunRecord, "suspicion">): boolean {
  return (suspicion?.uncounted ?? 0) > MOST_UNCOUNTED;
}

function limitError({ record, turnOfTeam }: ActiveRun): TroupeError {
  const { step } = record.suspicion ?? {};
  const name = step?.name == null ? "" : ` (${JSON.stringify(step.name)})`;
  const cause = step === undefined ? "something" : `the step ${JSON.stringify(step.key)}${name}`;
  return new TroupeError(
    "recovery_limit",
    `the run was interrupted ${MOST_RECOVERIES} times in a row without progress: ${cause} in the team's turn ${turnOfTeam} may end the process, for example code that never returns or uses up the memory`,
  );
}

/** The log's entry for a recovery that was counted. */
export function recoveryEntry({ team }: Stores, { record, turnOfTeam }: ActiveRun): LogEntry {
  const { id, recoveries } = record;
  const trace = traceIdOf(id, record.trace?.context);
  return {
    event: "run_recovered",
    team: team.record.id,
    run: id,
    trace,
    turn: turnOfTeam,
    recoveries,
  };
}
