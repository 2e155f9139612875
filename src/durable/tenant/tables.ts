import type { Database } from "../storage/database.ts";

/** Without rowid: a row of such a table is one written row, its key included. */
const TABLES = [
  "create table meta (name text primary key, value text) without rowid",
  // Only used by the registry: the list of tenants.
  "create table tenant (id text primary key, label text) without rowid",
  "create table key (id text primary key, record text not null) without rowid",
];

/** Version of the tables, kept in `meta`. */
const SCHEMA_VERSION = 1;

/** Whether anything is stored of this tenant. Writes nothing. */
export function holdsTenant(db: Database): boolean {
  return db.first("select 1 as found from sqlite_master where name = 'meta'") !== undefined;
}

/** Creates the tables on the first write; must be called inside its transaction. */
export function createTenantTables(db: Database): void {
  if (holdsTenant(db)) return;
  for (const table of TABLES) db.write(table);
  db.write("insert into meta values ('schema', ?)", String(SCHEMA_VERSION));
}
