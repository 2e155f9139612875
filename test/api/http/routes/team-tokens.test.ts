import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TeamToken, TeamTokens as TokenList } from "troupe/client";
import { TeamTokens } from "#api/auth/team-token.ts";
import { SCOPES } from "#contract/constants.ts";
import { ok } from "#contract/result.ts";
import { sha256Hex } from "#core/hash.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

const OPERATOR = "operator-secret";
/** May revoke what others have made. */
const OWNER = "owner-secret";
const EDITOR = "editor-secret";
const VIEWER = "viewer-secret";
const MINE = ["teams:read", "teams:write", "runs:read", "runs:write"];
const LINK = ["conversation:read", "files:read"];

let worker: TestWorker;
let directory: string;
let count = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "troupe-tokens-"));
  worker = await start([OWNER, EDITOR, VIEWER]);
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** @param keys those that the settings name */
async function start(keys: readonly string[]): Promise<TestWorker> {
  const scopes = new Map<string, readonly string[]>([
    [OWNER, SCOPES],
    [EDITOR, MINE],
    [VIEWER, ["teams:read"]],
  ]);
  const all = keys.map(async (key) => ({
    hash: await sha256Hex(key),
    tenant: "acme",
    scopes: scopes.get(key),
    name: key,
  }));
  return TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(await Promise.all(all)),
      OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    },
    { persistTo: directory },
  );
}

function ask(credential: string, path: string, body?: unknown, method?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${credential}`, "troupe-tenant": "acme" };
  const init = body === undefined ? { headers } : jsonInit(body, "POST", headers);
  return worker.fetch(path, { ...init, ...(method !== undefined && { method }) });
}

async function made<T>(response: Promise<Response>): Promise<T> {
  const { status } = await response;
  expect(status).toBe(201);
  return (await response).json() as Promise<T>;
}

async function newTeam(): Promise<string> {
  const id = `team-${++count}`;
  await made(ask(OWNER, "/v1/teams", { id, component: SAMPLE_COMPONENT }));
  return id;
}

function newKey(options: object): Promise<{ id: string; key: string }> {
  return made(ask(OWNER, "/v1/keys", { name: "made", ...options }));
}

function newToken(
  key: string,
  team: string,
  { scopes = ["teams:read", "runs:read"], expires_in = 600, ...rest } = {},
): Promise<TeamToken> {
  return made(ask(key, `/v1/teams/${team}/tokens`, { scopes, expires_in, ...rest }));
}

async function list(team: string, query = ""): Promise<TokenList> {
  const response = await ask(OWNER, `/v1/teams/${team}/tokens${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as TokenList;
}

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

const revoke = (key: string, team: string, id: string): Promise<number> =>
  statusOf(ask(key, `/v1/teams/${team}/tokens/${id}`, undefined, "DELETE"));

const works = async (team: string, { token }: TeamToken): Promise<boolean> =>
  (await statusOf(ask(token, `/v1/teams/${team}/conversation`))) === 200;

test("tokens and links are listed without their secrets, newest first, in pages", async () => {
  const team = await newTeam();
  const token = await newToken(EDITOR, team);
  const link = await newToken(OWNER, team, { scopes: LINK, expires_in: 90 * 86_400 });
  const other = await newTeam();
  await newToken(OWNER, other);
  const rows = [
    { id: link.id, kind: "link", scopes: LINK, user: null, made_by: OWNER },
    {
      id: token.id,
      kind: "token",
      scopes: ["teams:read", "runs:read"],
      user: null,
      made_by: EDITOR,
    },
  ];
  const { tokens, next_cursor } = await list(team);
  expect(tokens).toEqual([
    { ...rows[0], expires_at: link.expires_at },
    { ...rows[1], expires_at: token.expires_at },
  ]);
  expect(next_cursor).toBeNull();
  const first = await list(team, "?limit=1");
  expect(first.tokens).toMatchObject([rows[0]!]);
  const second = await list(team, `?limit=1&cursor=${first.next_cursor}`);
  expect(second).toMatchObject({ tokens: [rows[1]!], next_cursor: null });
  expect(await statusOf(ask(OWNER, `/v1/teams/${team}/tokens?cursor=x`))).toBe(422);
  expect(await statusOf(ask(OWNER, "/v1/teams/none/tokens"))).toBe(404);

  await ask(OWNER, `/v1/teams/${team}`, undefined, "DELETE");
  await made(ask(OWNER, "/v1/teams", { id: team, component: SAMPLE_COMPONENT }));
  expect((await list(team)).tokens).toEqual([]);
});

test("a credential that may read a team creates no tokens and sees none, and teams:write revokes own ones", async () => {
  const team = await newTeam();
  const path = `/v1/teams/${team}/tokens`;
  const body = { scopes: ["conversation:read"], expires_in: 60 };
  expect(await statusOf(ask(VIEWER, path, body))).toBe(403);
  expect(await statusOf(ask(VIEWER, path))).toBe(403);
  const [own, others] = [await newToken(EDITOR, team), await newToken(OWNER, team)];
  expect(await revoke(VIEWER, team, own.id)).toBe(403);
  expect(await revoke(EDITOR, team, others.id)).toBe(403);
  expect(await revoke(EDITOR, team, "unknown")).toBe(404);
  expect(await works(team, others)).toBe(true);
  expect(await revoke(EDITOR, team, own.id)).toBe(204);
  expect(await works(team, own)).toBe(false);
  expect(await revoke(OWNER, team, others.id)).toBe(204);
  expect(await revoke(OWNER, team, "unknown")).toBe(204);
  expect((await list(team)).tokens).toEqual([]);
  await newToken(OWNER, team);
  expect(await statusOf(ask(OWNER, path, undefined, "DELETE"))).toBe(204);
  expect((await list(team)).tokens).toEqual([]);
});

test("tokens end with the created key that made them, unless it may revoke those of all", async () => {
  const team = await newTeam();
  const key = await newKey({ scopes: MINE, expires_in: 300 });
  const strong = await newKey({ scopes: [...MINE, "keys:write"], expires_in: 300 });
  const link = await newToken(key.key, team, { scopes: LINK, expires_in: 90 * 86_400 });
  const kept = await newToken(strong.key, team, { scopes: LINK, expires_in: 90 * 86_400 });
  const soon = Date.now() + 301_000;
  expect(Date.parse(link.expires_at)).toBeLessThanOrEqual(soon);
  expect(Date.parse(kept.expires_at)).toBeGreaterThan(soon);
  const tried = await newToken(key.key, team, { scopes: LINK });
  expect(await works(team, tried)).toBe(true);
  for (const { id } of [key, strong]) {
    expect(await statusOf(ask(OWNER, `/v1/keys/${id}`, undefined, "DELETE"))).toBe(204);
  }
  expect((await list(team)).tokens).toMatchObject([{ id: kept.id, made_by: "made" }]);
  // What was admitted before is remembered for 10 s.
  expect([await works(team, link), await works(team, kept)]).toEqual([false, true]);
});

test.each([
  ["an identity token", "identity", [], 1],
  ["an identity token with keys:write", "identity", ["keys:write"], 90],
  ["a local request", "local", ["keys:write"], 90],
] as const)("a link of %s", async (_, kind, more, days) => {
  const { fetch } = testApp({
    gateway: { team: () => ({ creation: async () => ok("c1") }) as never },
    tenants: {
      tenant: () => ({ addToken: async () => ok(null), limits: async () => ({}) }),
    } as never,
    teamTokens: new TeamTokens(new Uint8Array(32)),
    authenticate: async () => ({
      id: "caller",
      tenant: "acme",
      kind,
      name: null,
      scopes: ["teams:read", "teams:write", ...more],
      expires_at: new Date(Date.now() + 300_000).toISOString(),
    }),
  });
  const before = Date.now();
  const body = { scopes: LINK, expires_in: 90 * 86_400 };
  const { expires_at } = await made<TeamToken>(fetch("/v1/teams/t/tokens", jsonInit(body)));
  const life = Math.round((Date.parse(expires_at) - before) / 86_400_000);
  expect(life).toBe(days);
});

test("an open stream ends when its token expires, before another ping", async () => {
  const team = await newTeam();
  const { token } = await newToken(OWNER, team, { expires_in: 2 });
  const stream = await ask(token, `/v1/teams/${team}/events`);
  expect(stream.status).toBe(200);
  expect((await stream.text()).match(/^:/gm) ?? []).toHaveLength(0);
});

test("a tenant above its limit of tokens signs nothing, and expired tokens do not count", async () => {
  const limit = (team_tokens: number): Promise<Response> =>
    ask(OPERATOR, "/v1/tenants/acme", { limits: { team_tokens } }, "PUT");
  const team = await newTeam();
  await newToken(OWNER, team, { expires_in: 1 });
  expect(await statusOf(limit(0))).toBe(200);
  const refused = await ask(OWNER, `/v1/teams/${team}/tokens`, { scopes: LINK, expires_in: 60 });
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    code: "too_many_team_tokens",
    limit: "team_tokens",
    value: 0,
  });
  expect(await statusOf(limit(100_000))).toBe(200);
  await expect.poll(async () => (await list(team)).tokens).toEqual([]);
});

test("tokens end with the removal of the static key that made them", async () => {
  const team = await newTeam();
  const [bound, free] = [
    await newToken(EDITOR, team, { scopes: LINK }),
    await newToken(OWNER, team, { scopes: LINK }),
  ];
  const removed = atob(
    bound.token.slice(5).split(".", 1)[0]!.replaceAll("-", "+").replaceAll("_", "/"),
  );
  expect(removed).not.toContain((await sha256Hex(EDITOR)).slice(0, 16));
  await worker[Symbol.asyncDispose]();
  worker = await start([OWNER]);
  expect([await works(team, bound), await works(team, free)]).toEqual([false, true]);
  expect((await list(team)).tokens.map(({ id }) => id)).toEqual([free.id]);
  await worker[Symbol.asyncDispose]();
  worker = await start([OWNER, EDITOR, VIEWER]);
  expect(await works(team, bound)).toBe(true);
});
