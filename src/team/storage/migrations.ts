import { NewerDataError } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";

/** The part of a step's key after the last slash. */
const STEP_NAME = "replace(key, rtrim(key, replace(key, '/', '')), '')";

/** Entries for the tenant; see OutboxStore. */
export const OUTBOX_TABLE =
  "create table outbox (number integer primary key, entry text, place integer) without rowid";

/** `next_at` is in epoch milliseconds. The task comes last: reading the other columns skips it. */
export const SCHEDULE_TABLE =
  "(seq integer primary key, id text not null unique, next_at integer, record text not null, task text)";

/**
 * The migrations from each version of the tables to the next; the first one leads from 1 to 2. A version that does not
 * know the tables refuses them, so a change that an earlier version could misread needs a migration, even an empty one.
 * Teams store the number, so an empty one cannot go either.
 * Only tables of schema.ts exist in every team: a `LazyTable` may be missing.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  // Steps have a kind. Before, the key distinguished model calls from tool calls.
  [
    "alter table step add column kind text not null default 'effect'",
    `update step set kind = 'model' where ${STEP_NAME} glob 'model:*'`,
    `update step set kind = 'tool' where ${STEP_NAME} = 'call'`,
  ],
  [OUTBOX_TABLE],
  [`create table schedule ${SCHEDULE_TABLE}`],
  // The trace data of a step until its turn is committed.
  ["alter table step add column trace text"],
  // The pieces in which a message was streamed.
  ["alter table event add column pieces text"],
  // Texts may refer to large base64 that is stored once, in a table of its own.
  [],
  // The team has memories and an outbox for those of others, and its log has changes of them that people made.
  [],
  // The steps of a turn that is over, for the requests to its models.
  ["alter table head add column steps text", "alter table run add column steps text"],
];

/** Version of the tables that this code creates and expects; a team's is stored in `meta` under `schema`. */
export const SCHEMA_VERSION = 1 + MIGRATIONS.length;

/**
 * Migrates the tables of a stored team. Writes nothing when they are current.
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
