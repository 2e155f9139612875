import { type TracedRun, type TracedTurn } from "../../telemetry/run-spans.ts";
import { loadSpans } from "../../telemetry/stored-spans.ts";
import type { ActiveRun } from "../run/active-run.ts";
import { type Commit, commitAt, commitsAfter } from "../storage/commits.ts";
import { type RunRecord, type StoredRun } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** What the spans around a run's turns are made of. */
export function tracedRun(record: RunRecord): TracedRun {
  const { id, status, error, created_at, started_at, ended_at, trace } = record;
  return {
    id,
    status,
    error,
    created: Date.parse(created_at),
    started: started_at === null ? null : Date.parse(started_at),
    ended: ended_at === null ? null : Date.parse(ended_at),
    recoveries: (trace?.recoveries ?? []).map(([turn, since, at]) => ({ turn, since, at })),
  };
}

/** The turn of a commit. @param before its first moment, epoch milliseconds, and the run's turn it was to be */
export function committedTurn(
  record: RunRecord,
  { turn, next, time, spans }: Commit,
  before: { at: number; next: number },
): TracedTurn {
  return {
    // A run that is stopped while it waits commits the turn as it is, and has no next one.
    number: next === before.next ? next : next - 1,
    turn,
    start: notBefore(record, before.at),
    end: time.at,
    error: null,
    ...loadSpans(spans, before.at),
  };
}

/** The turn in which a run failed or was cancelled; undefined for one that ended between two turns. */
export function givenUpTurn(record: RunRecord): TracedTurn | undefined {
  const { last_turn, status, error, ended_at, next_turn, turn } = record;
  if (last_turn?.spans === undefined || ended_at === null) return undefined;
  return {
    number: next_turn,
    turn: turn + 1,
    start: notBefore(record, last_turn.started.at),
    end: Date.parse(ended_at),
    error: status === "failed" ? (error ?? {}) : { type: "cancelled" },
    ...loadSpans(last_turn.spans, last_turn.started.at),
  };
}

/** The turn in progress, as far as it has come. */
export function turnInProgress(active: ActiveRun): TracedTurn {
  return {
    number: active.turnOfRun,
    turn: active.turnOfTeam,
    start: notBefore(active.record, active.turnStarted.at),
    end: null,
    error: null,
    ...active.spans(),
  };
}

/** The finished turns of a run after a turn of the team, the first `limit`. */
export function* finishedTurns(
  { db, texts }: Pick<Stores, "db" | "texts">,
  { seq, record }: StoredRun,
  after: number,
  limit: number,
): Generator<TracedTurn, void, void> {
  // A run that has not started, or that a version without traces has started.
  if (record.trace === undefined || record.started_at === null) return;
  const first = Math.max(after, record.trace.after);
  const earlier = after > record.trace.after ? commitAt(db, texts, after) : undefined;
  let before =
    earlier === undefined
      ? { at: record.first_moment.at, next: record.first_turn }
      : { at: earlier.time.at, next: earlier.next };
  for (const commit of commitsAfter(db, texts, first, limit)) {
    if (commit.run !== seq) return;
    yield committedTurn(record, commit, before);
    before = { at: commit.time.at, next: commit.next };
  }
}

/** A retry begins in the middle of a turn, whose beginning belongs to the run before. */
function notBefore({ started_at, created_at }: RunRecord, at: number): number {
  return Math.max(at, Date.parse(started_at ?? created_at));
}
