import type { UsageByModel } from "../../contract/usage/usage-schemas.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";
import type { StoredSpans } from "../../telemetry/stored-spans.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { Database } from "./database.ts";
import type { Stores } from "./stores.ts";
import { readSnapshot, type Snapshot, snapshotOwner } from "./snapshots.ts";
import type { TextStore } from "./text-store.ts";

/** The position of the team after a commit. Stored in the team's own snapshot, so it costs no row. */
export interface Commit {
  /** Turns of the team's life, over all runs, resets and loads of state. */
  turn: number;
  /** Row of the run that made it, 0 for a reset or a loaded state. */
  run: number;
  /** The run's next turn. */
  next: number;
  time: Moment;
  /** The run's tokens so far. */
  usage: RequestUsage;
  /** The same by model. Missing in commits of versions that did not count by model. */
  models?: UsageByModel;
  /** Of the turn, with times from its beginning. */
  spans?: StoredSpans;
  /** The last event before the next turn's. */
  event: number;
  /** The last event before the conversation's: a reset or a loaded state began a new one. */
  since: number;
  /** Whether the team is as a reset left it. */
  empty: boolean;
  /** Whether its state is that of a cancelled run, taken over by a fork or by another component. */
  cancelled?: boolean;
}

/** The last commit, or undefined before the first. */
export function lastCommit(db: Database, texts: TextStore): Commit | undefined {
  return commitAt(db, texts, Number.MAX_SAFE_INTEGER);
}

/** The last commit up to a turn. */
export function commitAt(db: Database, texts: TextStore, turn: number): Commit | undefined {
  return readSnapshot<{ commit: Commit }>(db, texts, "", turn)?.commit;
}

/**
 * Whether the last commit up to a turn is where a run was cancelled. Its conditions and counters are over then, unless a retry
 * continues the run.
 */
export function standsAtCancellation(
  { db, texts, runs }: Pick<Stores, "db" | "texts" | "runs">,
  turn = Number.MAX_SAFE_INTEGER,
): boolean {
  const commit = commitAt(db, texts, turn);
  return commit !== undefined && (commit.cancelled === true || runs.wasCancelledAt(commit.turn));
}

/** The commits after a turn, oldest first, at most `limit`. */
export function* commitsAfter(
  db: Database,
  texts: TextStore,
  turn: number,
  limit: number,
): Iterable<Commit> {
  for (const head of db.all<{ turn: number; body: string | null }>(
    "select turn, body from head where path = '' and turn > ? order by turn limit ?",
    turn,
    limit,
  )) {
    const body = texts.load(snapshotOwner("", head.turn), head.body);
    yield (JSON.parse(body) as { commit: Commit }).commit;
  }
}

/** Detaches the last commit from its run: a fork's run belongs to the team it was forked from. */
export function disownLastCommit(
  db: Database,
  texts: TextStore,
  { turn, event, cancelled }: Pick<Commit, "turn" | "event" | "cancelled">,
): void {
  const stored = readSnapshot<{ commit: Commit; heads: Snapshot }>(db, texts, "");
  if (stored === undefined) return;
  const commit: Commit = {
    turn,
    run: 0,
    next: 0,
    time: { at: stored.commit.time.at, ran: 0 },
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    event,
    since: 0,
    empty: stored.commit.empty,
    ...(cancelled && { cancelled }),
  };
  texts.remove(snapshotOwner("", turn));
  const body = texts.store(snapshotOwner("", turn), JSON.stringify({ ...stored, commit }));
  db.write("update head set body = ? where path = '' and turn = ?", body, turn);
}

/** The last finished turn, 0 before the first. */
export function lastTurn(db: Database): number {
  return (
    db.first<{ turn: number }>("select turn from head where path = '' order by turn desc limit 1")
      ?.turn ?? 0
  );
}
