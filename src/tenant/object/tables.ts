import type { Database } from "../../sqlite/database.ts";
import { countOutcomes } from "../usage/count-outcomes.ts";
import { migrateTables, type TableVersions } from "../../sqlite/table-versions.ts";

/** The tables of webhooks. Without rowid: an insert, and an update even of the key, is one written row. */
const WEBHOOK_TABLES = [
  "create table webhook (id text primary key, record text not null) without rowid",
  // The secrets are sealed, newest first; the tenant's own have the id `default`.
  "create table webhook_secret (webhook text primary key, secrets text not null) without rowid",
  // `seq` is the time of the event in microseconds, made unique. A list is a merge of one range per status.
  `create table webhook_delivery (
    status text, webhook text, seq integer, record text not null, body text not null,
    primary key (status, webhook, seq)
  ) without rowid`,
];

/**
 * The migrations from each version of the tables to the next; the first one leads from nothing to version 1. All tables
 * are without rowid, clustered by the order in which they are listed: an insert is one written row, and so is an
 * update, even one of the key (docs/design/platform.md).
 */
const MIGRATIONS: TableVersions["migrations"] = [
  [
    "create table meta (name text primary key, value text) without rowid",
    // Only used by the registry: the list of tenants.
    "create table tenant (id text primary key, label text) without rowid",
    "create table key (id text primary key, record text not null) without rowid",
  ],
  // The directory.
  [
    "create table team (id text primary key, record text not null) without rowid",
    // Ids of teams that are being created.
    "create table reservation (id text primary key, until integer not null, idempotency text) without rowid",
    "create table idempotency (key text primary key, hash text not null, team text not null) without rowid",
    "create table activity (changed integer, id text, record text not null, primary key (changed, id)) without rowid",
    "create table gone (changed integer, id text, number integer not null, primary key (changed, id)) without rowid",
    `create table run (
      status text, created integer, team text, id text, record text not null,
      primary key (status, created, team, id)
    ) without rowid`,
    `create table request (
      created integer, team text, id text, record text not null, primary key (created, team, id)
    ) without rowid`,
    "create table usage (day text, team text, record text not null, primary key (day, team)) without rowid",
  ],
  WEBHOOK_TABLES,
  // Teams that are a caller's conversation with another; `agent` is empty once that team was deleted.
  [
    "create table conversation (agent text, owner text, id text, primary key (agent, owner, id)) without rowid",
  ],
  // Questions that were closed recently.
  [
    "create table if not exists closed (changed integer, team text, id text, primary key (changed, team, id)) without rowid",
  ],
  // The objects of its memories, by their names without the tenant.
  ["create table memory (name text primary key) without rowid"],
  // The settings that clients of protocols have stored in their sessions.
  [
    "create table session (id text primary key, until integer not null, record text not null) without rowid",
  ],
  // Logins at MCP servers: kept, begun (by the hash of their `state`), and waited for by questions of runs.
  [
    "create table connection (server text primary key, record text not null) without rowid",
    "create table login (state text primary key, record text not null) without rowid",
    "create table login_wait (team text, request text, record text not null, primary key (team, request)) without rowid",
  ],
  // Team tokens and links, without their secrets, until they end.
  [
    `create table team_token (
      team text, made integer, id text, until integer not null, record text not null, primary key (team, made, id)
    ) without rowid`,
    "create index team_token_until on team_token (until)",
  ],
  // The sizes of the objects of memories; those of earlier versions report them with their next change.
  [
    "create table memory_stored (name text primary key, bytes integer not null, empty integer not null) without rowid",
  ],
  // A login belongs to a user, or to the tenant: the empty text.
  [
    "create table connection_of_user (user text, server text, record text not null, primary key (user, server)) without rowid",
    "insert into connection_of_user select '', server, record from connection",
    "drop table connection",
    "alter table connection_of_user rename to connection",
  ],
  // Usage by the user of the runs, which `usage` and the teams' rows contain, too.
  [
    `create table user_usage (
      day text, team text, user text, record text not null, primary key (day, team, user)
    ) without rowid`,
  ],
  // To whom teams belong. The indexes have only what is of the teams of users.
  [
    "alter table gone add column team_user text",
    "alter table closed add column team_user text",
    "create index activity_user on activity (record ->> '$.user', changed, id) where record ->> '$.user' is not null",
    "create index run_user on run (record ->> '$.team_user', status, created, team, id) where record ->> '$.team_user' is not null",
    "create index request_user on request (record ->> '$.team_user', created, team, id) where record ->> '$.team_user' is not null",
    "create index usage_user on usage (record ->> '$.team_user', day, team) where record ->> '$.team_user' is not null",
  ],
  // The logins that have begun, by whose they are and by their end.
  [
    "create index login_of on login (record ->> '$.server', coalesce(record ->> '$.user', ''), record ->> '$.until')",
    "create index login_until on login (record ->> '$.until')",
  ],
  // Usage by the outcome of runs, and the sums of all teams for each day that is over.
  [
    "create table day_usage (day text primary key, record text not null) without rowid",
    countOutcomes,
  ],
  // Triggers (a word of SQL) and what came in for them. One that takes e-mail is found by its address.
  [
    "create table inbound (team text, id text, mailbox text, record text not null, primary key (team, id)) without rowid",
    "create index inbound_mailbox on inbound (mailbox) where mailbox is not null",
    `create table inbound_delivery (
      team text, inbound text, id text, at integer not null, record text not null, primary key (team, inbound, id)
    ) without rowid`,
    "create index inbound_delivery_at on inbound_delivery (team, inbound, at, id)",
    // Only used by the registry: tenants whose ids are too long for an e-mail address, by their hashes.
    "create table inbound_tenant (hash text primary key, id text not null) without rowid",
  ],
  // The receivers of messages about teams, and the links of these messages by the request that they answer.
  [
    "create table notify (team text primary key, record text not null) without rowid",
    "create index team_token_request on team_token (team, record ->> '$.answers.request') where record ->> '$.answers.request' is not null",
  ],
  // Versions of skills, and their files in pieces.
  [
    "create table skill_version (name text, version integer, record text not null, primary key (name, version)) without rowid",
    `create table skill_piece (
      name text, version integer, place integer, bytes blob not null, primary key (name, version, place)
    ) without rowid`,
  ],
  // The own tools of teams.
  [
    "create table tool (name text primary key, team text not null, record text not null) without rowid",
    "create unique index tool_team on tool (team)",
  ],
  // Files over OpenAI's API, and their bytes in pieces where they are in no bucket. `ready` is 0 until the bucket has them.
  [
    `create table kept_file (
      id text primary key, made integer not null, until integer not null, owner text not null, purpose text not null,
      ready integer not null, record text not null
    ) without rowid`,
    "create index kept_file_made on kept_file (made, id)",
    "create index kept_file_until on kept_file (until)",
    "create table kept_file_piece (id text, place integer, bytes blob not null, primary key (id, place)) without rowid",
  ],
];

/** True if anything is stored for this tenant. Writes nothing. */
export function holdsTenant(db: Database): boolean {
  return db.hasTable("meta");
}

/**
 * Creates the tables on the first write, or migrates them to the current version. Writes nothing when they are current.
 *
 * @throws NewerDataError before anything else
 */
export function createTenantTables(db: Database): void {
  migrateTables(db, { unnumbered: 0, migrations: MIGRATIONS });
}
