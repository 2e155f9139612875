import type { RunNote } from "../../contract/run.ts";
import { addTokens, type RunUsage, type TokensByModel } from "../../contract/usage/model-usage.ts";
import type { SecretPushConfig } from "../../contract/push.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import type { StoredSpans } from "../../telemetry/spans/stored-spans.ts";
import type { RunRecord, Suspicion } from "../storage/runs/run-record.ts";

// All changes of a run's record. Each is a pure function of the record and of facts, and returns the record after the change, or
// the same record where it refuses the change. The fields are read-only for all other files: `ActiveRun` applies the transitions
// of the active run, and the stores write what they return.

const MOST_NOTES = 20;

/** For the trace; a run of months may have any number. */
const KEPT_RECOVERIES = 20;

/** The furthest a run has come: its turn, and in that turn the recorded step results and answers. */
export type RunProgress = readonly [turn: number, steps: number, answers: number];

/** The run's usage and turns, which the record gets at each change of status. */
export type CountedTurns = RunUsage & Pick<RunRecord, "next_turn" | "turn">;

/** A run that has to wait for the active one. @param turn the team's last finished turn */
export function queued(record: RunRecord, turn: number): RunRecord {
  return { ...record, turn };
}

/** The team's state that a run begins with. */
export interface TeamPresent {
  /** The last finished turn. */
  turn: number;
  epoch: number;
  /** The log's last cursor. */
  event: number;
  component_version: number;
}

/** The run starts. @param at ISO 8601 UTC */
export function started(
  record: RunRecord,
  { at, turn, epoch, event, component_version }: { at: string } & TeamPresent,
): RunRecord {
  return {
    ...record,
    status: "running",
    component_version,
    started_at: at,
    first_moment: { at: Date.parse(at), ran: 0 },
    turn,
    trace: { ...record.trace, after: turn },
    epoch,
    first_event: event,
  };
}

/** A queued run is cancelled. Refused once it has started. @param event the log's last cursor, before the terminal event */
export function cancelledInQueue(
  record: RunRecord,
  facts: { mode: "after_turn" | "now"; turn: number; event: number; at: string },
): RunRecord {
  if (record.status !== "queued") return record;
  return {
    ...record,
    status: "cancelled",
    stop_requested: facts.mode,
    turn: facts.turn,
    first_event: facts.event,
    last_event: facts.event + 1,
    ended_at: facts.at,
  };
}

/** The client asks for the end of the run. Refused when it has asked for the same before. */
export function stopRequested(record: RunRecord, mode: "after_turn" | "now"): RunRecord {
  return record.stop_requested === mode ? record : { ...record, stop_requested: mode };
}

/** The client asks for a pause. Refused when it has asked before. */
export function pauseRequested(record: RunRecord): RunRecord {
  return record.pause_requested ? record : { ...record, pause_requested: true };
}

/**
 * A pause ends, or its request is taken back before it has begun. Refused without such a request.
 *
 * @param now epoch milliseconds: from then on the wait for a backoff counts as idle again @param event the log's last cursor
 */
export function resumed(
  record: RunRecord,
  { now, event, counted }: { now: number; event: number; counted: CountedTurns },
): RunRecord {
  if (!record.pause_requested) return record;
  const unpaused = { ...record, pause_requested: false };
  if (record.status !== "paused") return unpaused;
  const running: RunRecord = {
    ...unpaused,
    ...counted,
    status: "running",
    resuming: true,
    rest_since: record.wake_at === null ? record.rest_since : now,
  };
  return restarted(running, event);
}

/** The agents have been paused: their resume hooks have to run before the next turn. */
export function resumeDue(record: RunRecord): RunRecord {
  return record.resuming ? record : { ...record, resuming: true };
}

/** The resume hooks run now. */
export function resumeDone(record: RunRecord): RunRecord {
  return record.resuming ? { ...record, resuming: false } : record;
}

/** Nothing runs from here on until a client or the alarm wakes the run. Refused once it has ended. */
export function suspended(
  record: RunRecord,
  facts: {
    status: "waiting" | "paused" | "running";
    wakeAt: number | null;
    time: Moment;
    counted: CountedTurns;
  },
): RunRecord {
  if (isEnded(record)) return record;
  const { status, wakeAt, time, counted } = facts;
  return {
    ...record,
    ...counted,
    ran: time.ran,
    rest_since: status === "running" ? time.at : null,
    status,
    wake_at: wakeAt,
  };
}

/** A waiting run continues. Refused once it has ended. @param event the log's last cursor */
export function continued(
  record: RunRecord,
  { ran, event, counted }: { ran: number; event: number; counted: CountedTurns },
): RunRecord {
  if (isEnded(record)) return record;
  return restarted(
    { ...record, ...counted, ran, rest_since: null, status: "running", wake_at: null },
    event,
  );
}

/**
 * The number of times that the run was interrupted, or has continued after it was idle, since the event with this cursor.
 */
export function restartsSince({ restarts }: RunRecord, event: number): number {
  return restarts?.after === event ? restarts.count : 0;
}

/** The run runs again after an interruption or an idle time: pieces of texts are sent again. */
export function restarted(record: RunRecord, event: number): RunRecord {
  return { ...record, restarts: { after: event, count: restartsSince(record, event) + 1 } };
}

/**
 * The run continues after an interruption. That counts against it unless it was not the cause, and the count starts over where
 * there was progress since the last one. Only results that a repeated turn does not make again are progress; events are not,
 * because a turn that is never the same records new ones each time.
 *
 * @param interrupted when it was, as far as it is known, epoch milliseconds @param turn the one in progress, in the team's life
 */
export function recovered(
  record: RunRecord,
  facts: { turn: number; interrupted: number; now: number; event: number; progress: RunProgress },
): RunRecord {
  const { suspicion, ...rest } = withRecovery(restarted(record, facts.event), facts);
  const furthest = parsed(record.recovery_mark);
  if (furthest === undefined || isFurther(facts.progress, furthest)) {
    const recovery_mark = best(facts.progress, furthest).join(":");
    return { ...rest, recovery_mark, recoveries: 1 };
  }
  if (suspicion?.counts === false) {
    return { ...rest, suspicion: { ...suspicion, uncounted: suspicion.uncounted + 1 } };
  }
  return { ...rest, recoveries: record.recoveries + 1, ...(suspicion && { suspicion }) };
}

function withRecovery(
  record: RunRecord,
  { turn, interrupted, now }: { turn: number; interrupted: number; now: number },
): RunRecord {
  const { after = turn - 1, recoveries = [], ...trace } = record.trace ?? {};
  const recovery = [turn, interrupted, now] as const;
  const kept = [...recoveries, recovery].slice(-KEPT_RECOVERIES);
  return { ...record, trace: { ...trace, after, recoveries: kept } };
}

function isFurther([turn, ...done]: RunProgress, [lastTurn, ...lastDone]: RunProgress): boolean {
  if (turn !== lastTurn) return turn > lastTurn;
  return done.some((count, index) => count > (lastDone[index] ?? 0));
}

/** Steps that are forgotten because their request changed must not count as progress when they come again. */
function best(now: RunProgress, last: RunProgress | undefined): RunProgress {
  if (last === undefined || now[0] !== last[0]) return now;
  return [now[0], Math.max(now[1], last[1]), Math.max(now[2], last[2])];
}

function parsed(mark: string | null): RunProgress | undefined {
  const [turn, steps = 0, answers = 0] = (mark ?? "").split(":").map(Number);
  return mark === null || turn === undefined ? undefined : [turn, steps, answers];
}

/**
 * A suspect's record with its next step, on which the next interruption may be blamed. @param counts whether it counts against
 * the run
 */
export function suspected(
  record: RunRecord,
  { counts, step }: Partial<Pick<Suspicion, "counts" | "step">>,
): RunRecord {
  const { suspicion } = record;
  const uncounted = suspicion?.uncounted ?? 0;
  const cause = step ?? suspicion?.step;
  return {
    ...record,
    suspicion: {
      counts: counts ?? suspicion?.counts ?? true,
      uncounted,
      ...(cause && { step: cause }),
    },
  };
}

/** Model calls of the turn that no recorded step counts. @param spans those of its discarded steps; left out, they stay */
export function discarded(
  record: RunRecord,
  { turn, tokens, spans }: { turn: number; tokens: TokensByModel; spans?: StoredSpans | undefined },
): RunRecord {
  const before = record.discarded?.turn === turn ? record.discarded : undefined;
  const sum = addTokens(before?.tokens ?? {}, tokens);
  return { ...record, discarded: { ...before, turn, tokens: sum, ...(spans && { spans }) } };
}

/** The commit of the turn has the tokens and spans of what the turn has discarded. */
export function committed(record: RunRecord): RunRecord {
  if (record.discarded === undefined) return record;
  const { discarded: _, ...rest } = record;
  return rest;
}

/** The run gets a note. Refused when it has the same one, or enough of them. */
export function noted(record: RunRecord, note: RunNote): RunRecord {
  const { notes = [] } = record;
  const isKnown = notes.some(
    ({ agent, message }) => agent === note.agent && message === note.message,
  );
  if (isKnown || notes.length >= MOST_NOTES) return record;
  return { ...record, notes: [...notes, note] };
}

/** The client changes whom the run sends push notifications. */
export function pushedTo(record: RunRecord, push: readonly SecretPushConfig[]): RunRecord {
  return { ...record, push };
}

/** Calls after the end of the run have used more. */
export function usedLater(record: RunRecord, { usage, models }: RunUsage): RunRecord {
  return { ...record, usage, models };
}

/** The outcome of a run. */
export type RecordedEnd =
  | { status: "completed"; stopReason: string | null }
  | { status: "failed"; error: NonNullable<RunRecord["error"]> }
  | { status: "cancelled" };

/** The run ends. @param at ISO 8601 UTC @param ran milliseconds that it was running @param event the cursor of the terminal event @param lastTurn the turn a retry begins with */
export function ended(
  record: RunRecord,
  end: RecordedEnd,
  facts: {
    at: string;
    ran: number;
    event: number;
    lastTurn: NonNullable<RunRecord["last_turn"]>;
    counted: CountedTurns;
  },
): RunRecord {
  return {
    ...record,
    ...facts.counted,
    ran: facts.ran,
    last_turn: facts.lastTurn,
    status: end.status,
    pause_requested: false,
    wake_at: null,
    rest_since: null,
    ended_at: facts.at,
    stop_reason: end.status === "completed" ? end.stopReason : null,
    error: end.status === "failed" ? end.error : null,
    last_event: facts.event,
  };
}

function isEnded({ status }: RunRecord): boolean {
  return status === "completed" || status === "cancelled" || status === "failed";
}
