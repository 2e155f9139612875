import type { Json } from "../../core/json.ts";
import type { Database } from "./database.ts";
import type { TextStore } from "./text-store.ts";

/**
 * The small state (counters, speaker index, tool state) of one of the root's participants, by the paths of its parts.
 * Logs, which grow, are stored elsewhere.
 */
export type Snapshot = { [path: string]: Json };

/** What is stored of a participant (`group`; "" for the team itself), as of a turn. */
export function readSnapshot<T>(
  db: Database,
  texts: TextStore,
  group: string,
  turn = Number.MAX_SAFE_INTEGER,
): T | undefined {
  const row = db.first<{ turn: number; body: string | null }>(
    "select turn, body from head where path = ? and turn <= ? order by turn desc limit 1",
    group,
    turn,
  );
  return row && (JSON.parse(texts.load(snapshotOwner(group, row.turn), row.body)) as T);
}

export function snapshotOwner(group: string, turn: number): string {
  return `head:${group}:${turn}`;
}
