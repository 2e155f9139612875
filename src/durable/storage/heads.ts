import type { Json } from "../../core/json.ts";
import type { RequestUsage } from "../../core/models/llm-messages.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";

/** How far the team had come at a commit. Stored with the team's own head, so it costs no row. */
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
  /** The last event before the next turn's. */
  event: number;
  /** The last event before the conversation's: a reset or a loaded state began a new one. */
  since: number;
  /** Nothing has happened since a reset. */
  empty: boolean;
}

/** The heads of one of the root's participants, by their paths. */
export type Heads = { [path: string]: Json };

/** The last commit, or undefined before the first. */
export function lastCommit(db: Database, bodies: Bodies): Commit | undefined {
  return commitAt(db, bodies, Number.MAX_SAFE_INTEGER);
}

/** The last commit up to a turn. */
export function commitAt(db: Database, bodies: Bodies, turn: number): Commit | undefined {
  return readHead<{ commit: Commit }>(db, bodies, "", turn)?.commit;
}

/** Makes the last commit, which came with a fork, one that no run of this team has made. */
export function disownLastCommit(db: Database, bodies: Bodies, turn: number, event: number): void {
  const head = readHead<{ commit: Commit; heads: Heads }>(db, bodies, "");
  if (head === undefined) return;
  const commit: Commit = {
    turn,
    run: 0,
    next: 0,
    time: { at: head.commit.time.at, ran: 0 },
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    event,
    since: 0,
    empty: head.commit.empty,
  };
  bodies.remove(headOwner("", turn));
  const body = bodies.store(headOwner("", turn), JSON.stringify({ ...head, commit }));
  db.write("update head set body = ? where path = '' and turn = ?", body, turn);
}

/** The last finished turn, 0 before the first. */
export function lastTurn(db: Database): number {
  return (
    db.first<{ turn: number }>("select turn from head where path = '' order by turn desc limit 1")
      ?.turn ?? 0
  );
}

/** What is stored of a group of heads, as of a turn. */
export function readHead<T>(
  db: Database,
  bodies: Bodies,
  group: string,
  turn = Number.MAX_SAFE_INTEGER,
): T | undefined {
  const row = db.first<{ turn: number; body: string | null }>(
    "select turn, body from head where path = ? and turn <= ? order by turn desc limit 1",
    group,
    turn,
  );
  return row && (JSON.parse(bodies.load(headOwner(group, row.turn), row.body)) as T);
}

export function headOwner(group: string, turn: number): string {
  return `head:${group}:${turn}`;
}
