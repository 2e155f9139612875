import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { MOST_CONNECTIONS, MOST_CONNECTIONS_IN_ALL } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { Database } from "#sqlite/database.ts";
import { ConnectionStore, type PendingLogin } from "#tenant/connections/connection-store.ts";
import { tenantObject, tenantStub } from "../../team/support/tenant.ts";

/** The tables of version 10, in which logins had no users. */
const VERSION_10 = `
create table meta (name text primary key, value text) without rowid;
create table tenant (id text primary key, label text) without rowid;
create table key (id text primary key, record text not null) without rowid;
create table team (id text primary key, record text not null) without rowid;
create table reservation (id text primary key, until integer not null, idempotency text) without rowid;
create table idempotency (key text primary key, hash text not null, team text not null) without rowid;
create table activity (changed integer, id text, record text not null, primary key (changed, id)) without rowid;
create table gone (changed integer, id text, number integer not null, primary key (changed, id)) without rowid;
create table run ( status text, created integer, team text, id text, record text not null, primary key (status, created, team, id) ) without rowid;
create table request ( created integer, team text, id text, record text not null, primary key (created, team, id) ) without rowid;
create table usage (day text, team text, record text not null, primary key (day, team)) without rowid;
create table webhook (id text primary key, record text not null) without rowid;
create table webhook_secret (webhook text primary key, secrets text not null) without rowid;
create table webhook_delivery ( status text, webhook text, seq integer, record text not null, body text not null, primary key (status, webhook, seq) ) without rowid;
create table conversation (agent text, owner text, id text, primary key (agent, owner, id)) without rowid;
create table if not exists closed (changed integer, team text, id text, primary key (changed, team, id)) without rowid;
create table memory (name text primary key) without rowid;
create table session (id text primary key, until integer not null, record text not null) without rowid;
create table connection (server text primary key, record text not null) without rowid;
create table login (state text primary key, record text not null) without rowid;
create table login_wait (team text, request text, record text not null, primary key (team, request)) without rowid;
create table team_token ( team text, made integer, id text, until integer not null, record text not null, primary key (team, made, id) ) without rowid;
create index team_token_until on team_token (until);
alter table memory add column bytes integer not null default 0;
alter table memory add column empty integer not null default 0;
insert into meta values ('schema', '10');
insert into meta values ('tenant', '{"id":"earlier","label":"Old","limits":{},"created_at":"2026-11-22T08:00:00.000Z","registered":true}');
`;

const RECORD = JSON.stringify({
  connected: false,
  scope: null,
  issuer: null,
  started_by: null,
  created_at: "2026-11-28T08:00:00.000Z",
  connected_at: null,
  base_url: "https://troupe.example",
  grant: "",
});

test.each([
  ["a tenant may have", null, "''", MOST_CONNECTIONS],
  ["a user may have", "ann", "'ann'", MOST_CONNECTIONS],
  ["a tenant and its users may have", "ann", "'u' || value", MOST_CONNECTIONS_IN_ALL],
])("callers and runs begin no login at more servers than %s", async (name, user, owner, limit) => {
  const tenant = tenantStub(`connections-${name.replaceAll(" ", "-")}`);
  await tenant.put({});
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    storage.sql.exec(
      `with recursive n (value) as (select 1 union all select value + 1 from n where value < ?)
       insert into connection select ${owner}, 'https://s' || value || '.example/', ? from n`,
      limit,
      RECORD,
    );
  });
  const server = "https://one-more.example/mcp";
  const refused = {
    ok: false,
    problem: { status: 409, code: "too_many_connections", extra: { limit } },
  };
  const by = { baseUrl: "https://troupe.example", credential: "key" };
  expect(
    await tenant.startConnection({ server, ...(user !== null && { user }) }, by),
  ).toMatchObject(refused);
  const challenge = { rejected: null, fresh: false, scope: null, insufficient: false };
  const wanted = { server, user, ...challenge, resourceMetadata: null };
  const question = { team: "desk", run: "r1", request: "q1" };
  expect(await tenant.token({ ...wanted, ...question })).toMatchObject(refused);
});

test("logins that a user begins repeatedly drop none of others", async () => {
  const tenant = tenantStub("begun");
  await tenant.put({});
  const server = "https://mcp.example.com/";
  const begun = await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    const store = new ConnectionStore(new Database(storage));
    const now = Date.now();
    const add = (user: string, n: number): void =>
      store.addPending(
        `${user}-${n}`,
        { server, user, started_by: "key", base_url: server, grant: "", until: now + 1000 + n },
        now,
      );
    add("bob", 0);
    store.addPending("over", { ...store.pending("bob-0"), until: now } as PendingLogin, now);
    for (let n = 0; n < 250; n++) add("ann", n);
    return ["bob-0", "over", "ann-0", "ann-49", "ann-50", "ann-249"].filter(
      (key) => store.pending(key) !== undefined,
    );
  });
  expect(begun).toEqual(["bob-0", "ann-50", "ann-249"]);
});

test("a deleted team waits for no login", async () => {
  const tenant = tenantStub("waiting");
  await tenant.put({});
  const wait = { server: "https://mcp.example.com/", user: null, run: "r1", request: "q1" };
  await runInDurableObject(tenantObject(tenant), (_instance, { storage }) => {
    const store = new ConnectionStore(new Database(storage));
    for (const team of ["desk", "other"]) store.waits({ ...wait, team, since: null, url: null });
  });
  const entries = [{ kind: "deleted" as const, number: 1, idempotency: null }];
  await tenant.deliver({ team: "desk", place: null, entries });
  const waiting = await runInDurableObject(tenantObject(tenant), (_instance, { storage }) =>
    new ConnectionStore(new Database(storage)).waiting().map(({ team }) => team),
  );
  expect(waiting).toEqual(["other"]);
});

test("logins of the version before belong to the tenant, and those in progress are restored unchanged", async () => {
  const tenant = tenantStub("earlier");
  const server = "https://mcp.example.com/";
  const state = "earlier.secret";
  const until = Date.now() + 60_000;
  const pending = {
    server,
    started_by: "key",
    base_url: "https://troupe.example",
    grant: "",
    until,
  };
  const key = await sha256Hex(state);
  await runInDurableObject(tenantObject(tenant), (_instance, { storage: { sql } }) => {
    sql.exec(VERSION_10);
    sql.exec("insert into connection values (?, ?)", server, RECORD);
    sql.exec("insert into login values (?, ?)", key, JSON.stringify(pending));
  });
  await evictDurableObject(tenantObject(tenant));
  expect(await tenant.connections({ limit: 10 })).toMatchObject({
    value: { connections: [{ server, user: null, status: "login_needed" }], next_cursor: null },
  });
  const back = { state, callback: null, cookies: "", code: "c", iss: null, error: null };
  // It is taken without a cookie, once; its grant in this test cannot be read.
  expect(await tenant.redeemLogin(back)).toMatchObject({ problem: { code: "secrets_unreadable" } });
  expect(await tenant.redeemLogin(back)).toMatchObject({ problem: { code: "login_not_found" } });
});
