import type { Database } from "./database.ts";
import { SCHEMA_VERSION } from "./migrations.ts";

// No AUTOINCREMENT and hardly an index: each costs a further written row per insert.
const TABLES = [
  // Schema version, the team itself, its component, those it had before, and what is known of a fork under way.
  "create table meta (name text primary key, value text) without rowid",
  // One row per run; `record` is written when its status changes, not per turn.
  "create table run (seq integer primary key, id text not null unique, task text, record text not null)",
  // Steps of the turn in progress, removed by its commit. `result` is null in a started one.
  `create table step (
    key text primary key, state text not null, attempt integer not null, policy text not null,
    fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect'
  ) without rowid`,
  // Questions to humans. They outlive their turn, so that an answer given twice is known.
  `create table question (
    id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
    expires_at integer, ran integer not null, answer text, answered_at integer
  ) without rowid`,
  // What streams yield and keep; `seq` is the cursor. A run's events stand side by side, so no index is needed.
  `create table event (
    seq integer primary key, run integer not null, turn integer not null, kind text not null, id text,
    body text, retracted integer not null default 0
  )`,
  // Heads of one participant (or of the team itself: ''), as of the turn that last changed one.
  "create table head (path text, turn integer, body text, primary key (path, turn)) without rowid",
  // What one turn appended to a log.
  `create table log (
    path text, generation integer, start integer, count integer not null, turn integer not null,
    body text, primary key (path, generation, start)
  ) without rowid`,
  // Bodies too big for a row.
  "create table part (owner text, n integer, body blob not null, primary key (owner, n)) without rowid",
  "create table idempotency (key text primary key, hash text not null, run text not null) without rowid",
];

/** Whether something is stored: a team, or the part of a fork that has arrived so far. Writes nothing. */
export function hasTables(db: Database): boolean {
  return hasTable(db, "meta");
}

export function hasTable(db: Database, name: string): boolean {
  return db.first("select 1 as found from sqlite_master where name = ?", name) !== undefined;
}

/** Whether this object holds a team. Writes nothing. */
export function holdsTeam(db: Database): boolean {
  return hasTables(db) && db.first("select 1 as found from meta where name = 'team'") !== undefined;
}

/** To be called inside the transaction that writes the first row. */
export function createTables(db: Database): void {
  for (const table of TABLES) db.write(table);
  db.write("insert into meta values ('schema', ?)", String(SCHEMA_VERSION));
}

/** Only teams with a cache have it, from its first entry on: also those that are older than it. */
export function createCacheTable(db: Database): void {
  db.write(
    "create table if not exists cache (seq integer primary key, key text not null unique, value text not null)",
  );
}

/** Only teams with a memory that is searched have it, from its first use on: also those that are older than it. */
export function createSearchTable(db: Database): void {
  // The full-text index of each log that has one, `search_<id>`, and which generation of the log it holds.
  db.write(
    "create table if not exists search (id integer primary key, path text not null unique, generation integer not null, tokenizer text not null)",
  );
}
