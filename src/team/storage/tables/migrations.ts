import { currentVersion, type TableVersions } from "../../../sqlite/table-versions.ts";

/** The part of a step's key after the last slash. */
const STEP_NAME = "replace(key, rtrim(key, replace(key, '/', '')), '')";

/** Entries for the tenant; see OutboxStore. */
export const OUTBOX_TABLE =
  "create table outbox (number integer primary key, entry text, place integer) without rowid";

/** `next_at` is in epoch milliseconds. The task comes last: reading the other columns skips it. */
export const SCHEDULE_TABLE =
  "(seq integer primary key, id text not null unique, next_at integer, record text not null, task text)";

/** Without the components: see VersionStore. `turn`: the first of the version, `until`: the first of the next one. */
export const VERSION_TABLE =
  "(n integer primary key, turn integer not null, until integer, created_at text not null, author text, label text, note text)";

/** Components that were replaced before versions were listed, each under the first turn of the next one. */
const REPLACED =
  "select cast(substr(name, 11) as integer) as turn from meta where name glob 'component:*'";

/** The time of a commit, as far as it can be read where it is. */
const COMMITTED_AT = `strftime('%Y-%m-%dT%H:%M:%fZ', (
  select iif(json_valid(body), json_extract(body, '$.commit.time.at'), null) from head where path = '' and head.turn = began.turn
) / 1000.0, 'unixepoch')`;

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
  // The versions of the component, also those from before they were listed.
  [
    `create table if not exists version ${VERSION_TABLE}`,
    `insert into version (n, turn, until, created_at)
     select (select json_extract(value, '$.component_version') from meta where name = 'team')
         - count(*) over () + row_number() over (order by turn),
       turn, lead(turn) over (order by turn),
       coalesce(${COMMITTED_AT}, (select json_extract(value, '$.created_at') from meta where name = 'team'),
         strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
     from (select 0 as turn union all ${REPLACED}) as began
     where exists (${REPLACED})`,
  ],
  // A question has the name of the credential that answered it.
  ["alter table question add column answered_by text"],
  // The tables of steps and of questions come with their first row.
  [],
];

export const TEAM_TABLES: TableVersions = { unnumbered: 1, migrations: MIGRATIONS };

/** Version of the tables that this code creates and expects. */
export const SCHEMA_VERSION = currentVersion(TEAM_TABLES);
