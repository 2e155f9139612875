import type { Database } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import { OUTBOX_TABLE, SCHEMA_VERSION } from "./migrations.ts";

// No AUTOINCREMENT and hardly an index: each costs another written row per insert. Tables that the first run of a plain team does
// not need are LazyTables: a tenth of a millisecond for each table is much of the cost of a new team.
const TABLES = [
  // Schema version, the team itself, its component, earlier components, and the progress of an incoming fork.
  "create table meta (name text primary key, value text) without rowid",
  // One row per run; `record` is written when its status changes, not per turn. `steps`: of a turn that was given up.
  "create table run (seq integer primary key, id text not null unique, task text, record text not null, steps text)",
  // The event log; `seq` is the cursor. A run's events are contiguous, so no index is needed. `pieces`: the pieces in
  // which a message was streamed.
  `create table event (
    seq integer primary key, run integer not null, turn integer not null, kind text not null, id text,
    body text, retracted integer not null default 0, pieces text
  )`,
  // Snapshot of one participant (or of the team itself: ''), as of the turn that last changed it. `steps`: those of the turn,
  // with the team's own.
  "create table head (path text, turn integer, body text, steps text, primary key (path, turn)) without rowid",
  // Items that one turn appended to a log.
  `create table log (
    path text, generation integer, start integer, count integer not null, turn integer not null,
    body text, primary key (path, generation, start)
  ) without rowid`,
  "create table idempotency (key text primary key, hash text not null, run text not null) without rowid",
  OUTBOX_TABLE,
];

/** True if anything is stored: a team or an unfinished fork. Writes nothing. */
export function hasTables(db: Database): boolean {
  return db.hasTable("meta");
}

/** True if this object holds a team. Writes nothing. */
export function holdsTeam(db: Database): boolean {
  return hasTables(db) && db.first("select 1 as found from meta where name = 'team'") !== undefined;
}

/** Call it inside the transaction that writes the first row. */
export function createTables(db: Database): void {
  db.write(TABLES.join(";"));
  db.write("insert into meta values ('schema', ?)", String(SCHEMA_VERSION));
}

/** Created with the first search, because most teams have no memory that is searched. */
export function createSearchTable(db: Database): void {
  // The full-text index of each log that has one, `search_<id>`, and which generation of the log it holds.
  const columns =
    "id integer primary key, path text not null unique, generation integer not null, tokenizer text not null";
  new LazyTable(db, "search", `(${columns})`).create();
}
