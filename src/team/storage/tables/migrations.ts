import { currentVersion, type TableVersions } from "../../../sqlite/table-versions.ts";

/** The part of a step's key after the last slash. */
const STEP_NAME = "replace(key, rtrim(key, replace(key, '/', '')), '')";

/** Entries for the tenant; see OutboxStore. */
export const OUTBOX_TABLE =
  "create table outbox (number integer primary key, entry text, place integer) without rowid";

/** `next_at` is in epoch milliseconds. The task comes last: reading the other columns skips it. */
export const SCHEDULE_TABLE =
  "(seq integer primary key, id text not null unique, next_at integer, record text not null, task text)";

/**
 * Version 1 had no number yet. Only tables of schema.ts exist in every team: a `LazyTable` may be missing.
 */
const MIGRATIONS: TableVersions["migrations"] = [
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
  // The words of memories are in a table of another form.
  [],
];

export const TEAM_TABLES: TableVersions = { unnumbered: 1, migrations: MIGRATIONS };

/** Version of the tables that this code creates and expects. */
export const SCHEMA_VERSION = currentVersion(TEAM_TABLES);
