import { NewerDataError } from "../../contract/stored-data.ts";
import type { Database } from "./database.ts";

/** The part of a step's key after the last slash. */
const STEP_NAME = "replace(key, rtrim(key, replace(key, '/', '')), '')";

/** What the tenant has to be told of the team; see OutboxStore. */
export const OUTBOX_TABLE =
  "create table outbox (number integer primary key, entry text, place integer) without rowid";

/** `next_at` is in epoch milliseconds. The task comes last: reading the other columns skips it. */
export const SCHEDULE_TABLE =
  "(seq integer primary key, id text not null unique, next_at integer, record text not null, task text)";

/**
 * What leads from each version of the tables to the next, the first one from 1 to 2. A version that does not know the tables
 * refuses them, so a change that an earlier version could misread needs a migration, if only an empty one. Only tables of
 * schema.ts are there in every team: a `LazyTable` may be missing.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  // Steps have a kind; before, the key told model calls and tool calls.
  [
    "alter table step add column kind text not null default 'effect'",
    `update step set kind = 'model' where ${STEP_NAME} glob 'model:*'`,
    `update step set kind = 'tool' where ${STEP_NAME} = 'call'`,
  ],
  [OUTBOX_TABLE],
  [`create table schedule ${SCHEDULE_TABLE}`],
  // What traces show of a step until its turn is committed.
  ["alter table step add column trace text"],
  // The pieces that a message was streamed in.
  ["alter table event add column pieces text"],
];

/** Version of the tables that this code creates and expects; a team's is stored in `meta` under `schema`. */
export const SCHEMA_VERSION = 1 + MIGRATIONS.length;

/**
 * Brings the tables of a stored team up to date. Writes nothing when they are.
 *
 * @throws NewerDataError before anything else
 */
export function migrate(db: Database): void {
  const stored = db.first<{ value: string }>("select value from meta where name = 'schema'");
  const version = Number(stored?.value ?? 1);
  if (version > SCHEMA_VERSION) throw new NewerDataError(version, SCHEMA_VERSION);
  if (version === SCHEMA_VERSION) return;
  db.transaction(() => {
    for (const statement of MIGRATIONS.slice(version - 1).flat()) db.write(statement);
    db.write("update meta set value = ? where name = 'schema'", String(SCHEMA_VERSION));
  });
}
