import type { Database } from "../storage/database.ts";

/**
 * All without rowid, clustered by the order in which they are listed: an insert, and an update even of the key, is one
 * written row each (docs/design/platform.md).
 */
const TABLES = [
  "create table meta (name text primary key, value text) without rowid",
  // Of the registry alone: which tenants there are.
  "create table tenant (id text primary key, label text) without rowid",
  "create table key (id text primary key, record text not null) without rowid",
  "create table team (id text primary key, record text not null) without rowid",
  // Ids of teams that are being created.
  "create table reservation (id text primary key, until integer not null) without rowid",
  "create table activity (changed integer, id text, record text not null, primary key (changed, id)) without rowid",
  "create table gone (changed integer, id text, primary key (changed, id)) without rowid",
  `create table run (
    status text, created integer, team text, id text, record text not null,
    primary key (status, created, team, id)
  ) without rowid`,
  `create table request (
    created integer, team text, id text, record text not null, primary key (created, team, id)
  ) without rowid`,
  "create table idempotency (key text primary key, hash text not null, team text not null) without rowid",
  "create table usage (day text, team text, model text, record text not null, primary key (day, team, model)) without rowid",
];

/** Version of the tables, kept in `meta`. */
const SCHEMA_VERSION = 1;

/** Whether anything is stored of this tenant. Writes nothing. */
export function holdsTenant(db: Database): boolean {
  return db.first("select 1 as found from sqlite_master where name = 'meta'") !== undefined;
}

/** Creates the tables with the first thing that is stored; to be called inside its transaction. */
export function createTenantTables(db: Database): void {
  if (holdsTenant(db)) return;
  for (const table of TABLES) db.write(table);
  db.write("insert into meta values ('schema', ?)", String(SCHEMA_VERSION));
}
