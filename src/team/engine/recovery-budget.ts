import { TroupeError } from "../../core/errors.ts";
import type { LogEntry } from "../../core/log.ts";
import { traceIdOf } from "../../telemetry/trace-context.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Stores } from "../storage/stores.ts";

/** Restarts in a row that a run survives without progress. */
const MOST_RECOVERIES = 10;

/** For the trace; a run of months may have any number. */
const KEPT_RECOVERIES = 20;

/** The furthest a run has come: its turn, and in that turn the recorded step results and answers. */
type Progress = readonly [turn: number, steps: number, answers: number];

/**
 * Counts a restart of the run, and starts over where there was progress since the last one. Only what a repeated turn
 * does not have to do again is progress; events are not, because a turn that is never the same records new ones each time.
 * The caller has to make the count durable before the turn continues: the turn may be what kills the object.
 *
 * @throws TroupeError `recovery_limit`
 */
export function countRecovery({ steps, questions, runs }: Stores, active: ActiveRun): void {
  const { record, stored, turnOfRun } = active;
  active.restarted();
  noteRecovery(active, steps.lastAt);
  const furthest = parse(record.recovery_mark);
  const now: Progress = [turnOfRun, steps.finished, questions.answered(record.id)];
  const advanced = furthest === undefined || isFurther(now, furthest);
  record.recoveries = advanced ? 1 : record.recoveries + 1;
  record.recovery_mark = (advanced ? best(now, furthest) : furthest).join(":");
  if (record.recoveries > MOST_RECOVERIES) {
    throw new TroupeError(
      "recovery_limit",
      `the run was interrupted ${MOST_RECOVERIES} times in a row without progress: something in its turn ${turnOfRun} may end the process, for example code that never returns or uses up the memory`,
    );
  }
  runs.update(stored);
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

function isFurther([turn, ...done]: Progress, [lastTurn, ...lastDone]: Progress): boolean {
  if (turn !== lastTurn) return turn > lastTurn;
  return done.some((count, index) => count > (lastDone[index] ?? 0));
}

/** For the trace. @param last when the last step ended, epoch milliseconds */
function noteRecovery({ record, turnOfTeam, turnStarted }: ActiveRun, last: number): void {
  const { after = turnOfTeam - 1, recoveries = [], ...trace } = record.trace ?? {};
  const recovery = [turnOfTeam, Math.max(turnStarted.at, last), Date.now()] as const;
  record.trace = { ...trace, after, recoveries: [...recoveries, recovery].slice(-KEPT_RECOVERIES) };
}

/** Steps that are forgotten because their request changed must not count as progress when they come again. */
function best(now: Progress, last: Progress | undefined): Progress {
  if (last === undefined || now[0] !== last[0]) return now;
  return [now[0], Math.max(now[1], last[1]), Math.max(now[2], last[2])];
}

function parse(mark: string | null): Progress | undefined {
  const [turn, steps = 0, answers = 0] = (mark ?? "").split(":").map(Number);
  return mark === null || turn === undefined ? undefined : [turn, steps, answers];
}
