import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inspect, isDeepStrictEqual } from "node:util";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { createApiKey } from "#api/auth/api-key.ts";
import { crc32, toBase62 } from "#api/auth/bytes.ts";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../support/http-app.ts";
import {
  BOARD_COMPONENT,
  ASKING_COMPONENT,
  SAMPLE_COMPONENT,
} from "../../support/sample-component.ts";
import { TestWorker } from "../../support/worker.ts";
import { ACCESS, type Access, TRIGGER, WEBHOOK } from "./matrix-access.ts";
import { PATIENCE } from "../../support/patience.ts";

const ISSUER = "https://id.example.com";
const SANDBOX = "https://sandbox.example.com";
const AUDIENCE = "https://troupe.example.com";
const OPERATOR = "operator-secret";
const ALL = "all-scopes-secret";
const OTHER_TENANT = "globex-secret";

/** Refused credentials: every endpoint that needs one answers 401. */
const REFUSED = [
  "none",
  "unknown",
  "unknown created key",
  "expired created key",
  "revoked created key",
  "wrong secret of a created key",
  "expired team token",
  "token of a deleted team",
  "expired identity token",
  "identity token for another audience",
] as const;

/** Good credentials that were made for the test. */
const ACCEPTED = ["created key", "identity token", "token of another team"];

/** How many operations it takes until each credential that is refused was tried, unless `npm test -- --all` tries all with each. */
const ROUNDS = 6;

/** Those of the credentials that are tried with an operation. */
function triedWith<T extends string>(operation: number, all: readonly T[]): readonly T[] {
  if (inject("allCases")) return all;
  return all.filter((_, index) => index % ROUNDS === operation % ROUNDS);
}

/** Refused credentials, and scopes of static keys. */
interface Tried {
  refused: readonly string[];
  scopes: readonly Scope[];
}

function triedCredentials(operation: number, { needs }: Access): Tried {
  const needed = typeof needs === "string" ? [] : needs;
  const others = SCOPES.filter((scope) => !needed.includes(scope));
  return {
    refused: triedWith(operation, REFUSED),
    scopes: [...needed, ...triedWith(operation, others)],
  };
}

const issuer = await generateKeyPair("ES256");
const state = mkdtempSync(join(tmpdir(), "troupe-matrix-"));
const credentials = new Map<string, string | null>();
let worker: TestWorker;
let lastName = 0;
/** Has everything that paths can name, for what only reads it. */
let reading: Place;

beforeAll(async () => {
  const staticKeys = [
    { hash: await sha256Hex(ALL), tenant: "acme", scopes: SCOPES },
    { hash: await sha256Hex(OTHER_TENANT), tenant: "globex", scopes: SCOPES },
    ...(await Promise.all(
      SCOPES.map(async (scope) => ({
        hash: await sha256Hex(scope),
        tenant: "acme",
        scopes: [scope],
      })),
    )),
  ];
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(issuer.publicKey)), alg: "ES256" }] });
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(staticKeys),
      OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
      TENANT_REQUESTS_PER_SECOND: "100000",
      TENANT_RUNS_PER_MINUTE: "100000",
      TENANT_KEYS: "100000",
      REFUSALS_PER_MINUTE: "100000",
      SANDBOX_URL: SANDBOX,
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: `${ISSUER}/jwks`,
    },
    {
      persistTo: state,
      outgoing: ({ url }) => {
        if (url === `${ISSUER}/jwks`) return Response.json(JSON.parse(jwks));
        if (url.startsWith(`${SANDBOX}/`)) return Response.json({ files: [] });
        return new Response(null, { status: 404 });
      },
    },
  );
  await makeCredentials();
  reading = await newPlace(
    Object.keys(MAKERS)
      .map((name) => `{${name}}`)
      .join(),
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  rmSync(state, { recursive: true, force: true });
});

interface Ask {
  method?: string;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  tenant?: string;
}

async function ask(
  credential: string | null,
  path: string,
  { method = "GET", body, headers: given, tenant }: Ask = {},
): Promise<Response> {
  const headers = {
    ...given,
    ...(credential !== null && { authorization: `Bearer ${credential}` }),
    ...(tenant !== undefined && { "troupe-tenant": tenant }),
  };
  return worker.fetch(
    path,
    body === undefined ? { method, headers } : jsonInit(body, method, headers),
  );
}

/** What a call of `acme` answers. */
async function made<T>(path: string, body: unknown): Promise<T> {
  const response = await ask(ALL, path, { method: "POST", body });
  expect(response.status, path).toBeLessThan(300);
  return (await response.json()) as T;
}

async function newTeam(component: unknown = SAMPLE_COMPONENT): Promise<string> {
  return (await made<{ id: string }>("/v1/teams", { component })).id;
}

async function newSchedule(team: string): Promise<string> {
  const body = { cron: "0 8 * * *", task: "Hello.", on_conflict: "interrupt" };
  return (await made<{ id: string }>(`/v1/teams/${team}/schedules`, body)).id;
}

async function newKey(options = {}): Promise<{ id: string; key: string }> {
  return made("/v1/keys", { name: "made", ...options });
}

function newTeamToken(team: string, expires_in = 600): Promise<{ id: string; token: string }> {
  const scopes = ["teams:read", "runs:read", "runs:write", "requests:write"];
  return made(`/v1/teams/${team}/tokens`, { scopes, expires_in });
}

async function newToken(team: string, expires_in?: number): Promise<string> {
  return (await newTeamToken(team, expires_in)).token;
}

function identityToken({ audience = AUDIENCE, life = 300 } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ sub: "acme", scope: SCOPES.join(" ") })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(ISSUER)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + life)
    .sign(issuer.privateKey);
}

async function makeCredentials(): Promise<void> {
  const revoked = await newKey();
  await ask(ALL, `/v1/keys/${revoked.id}`, { method: "DELETE" });
  const shortLived = await newKey({ expires_in: 1 });
  const deleted = await newTeam();
  const orphan = await newToken(deleted);
  await ask(ALL, `/v1/teams/${deleted}`, { method: "DELETE" });
  const shortToken = await newToken(await newTeam(), 1);
  const all: Record<string, string | null> = {
    none: null,
    unknown: "no-such-key",
    "unknown created key": (await createApiKey("acme")).key,
    "expired created key": shortLived.key,
    "revoked created key": revoked.key,
    "wrong secret of a created key": withOtherSecret((await newKey()).key),
    "expired team token": shortToken,
    "token of a deleted team": orphan,
    // Clocks may differ by a minute.
    "expired identity token": await identityToken({ life: -61 }),
    "identity token for another audience": await identityToken({
      audience: "https://other.example",
    }),
    "created key": (await newKey()).key,
    "identity token": await identityToken(),
    "token of another team": await newToken(await newTeam()),
  };
  for (const [name, credential] of Object.entries(all)) credentials.set(name, credential);
  for (const name of ["expired created key", "expired team token"]) {
    const credential = credentials.get(name) ?? null;
    const expired = async () => (await ask(credential, "/v1/whoami")).status === 401;
    await vi.waitUntil(expired, PATIENCE);
  }
}

/** A key with another secret, and the checksum of that. */
function withOtherSecret(key: string): string {
  const text = `${key.slice(0, -64)}${"0".repeat(58)}`;
  return text + toBase62(crc32(text));
}

/** What the parameters of a path name in `acme`, and a token of the team. */
interface Place {
  ids: Record<string, string>;
  token: string;
}

/** Makes what a parameter names. */
const MAKERS: Record<string, (ids: Record<string, string>) => Promise<string>> = {
  team: () => newTeam(),
  run: async ({ team = "" }) =>
    (await made<{ id: string }>(`/v1/teams/${team}/runs?wait=60`, { task: "Hello." })).id,
  schedule: ({ team = "" }) => newSchedule(team),
  task: async ({ team = "" }) =>
    (await made<{ id: string }>(`/v1/teams/${team}/tasks`, { title: "Buy food" })).id,
  tenant: async () => {
    const tenant = `tenant-${++lastName}`;
    await ask(OPERATOR, `/v1/tenants/${tenant}`, { method: "PUT", body: { label: tenant } });
    return tenant;
  },
  webhook: async () => {
    const webhook = `webhook-${++lastName}`;
    await ask(ALL, `/v1/webhooks/${webhook}`, { method: "PUT", body: WEBHOOK });
    return webhook;
  },
  trigger: async ({ team = "" }) => {
    const trigger = `trigger-${++lastName}`;
    const path = `/v1/teams/${team}/triggers/${trigger}`;
    await ask(ALL, path, { method: "PUT", body: TRIGGER });
    return trigger;
  },
  collection: async () => {
    const collection = `collection-${++lastName}`;
    const body = { mime_type: "text/plain", content: "Hello." };
    await ask(ALL, `/v1/collections/${collection}/documents/guide`, { method: "PUT", body });
    return collection;
  },
  document: () => Promise.resolve("guide"),
  skill: async () => {
    const skill = `skill-${++lastName}`;
    const text = `---\nname: ${skill}\ndescription: Of the matrix.\n---\n`;
    const body = { files: { "SKILL.md": text } };
    await ask(ALL, `/v1/skills/${skill}`, { method: "PUT", body });
    return skill;
  },
  key: async () => (await newKey()).id,
  token: async ({ team = "" }) => (await newTeamToken(team)).id,
};

/** Makes what a path names, and a team with a finished run, unless an earlier place has a team that will do. */
async function newPlace(path: string, earlier?: Place): Promise<Place> {
  const ids: Record<string, string> = {};
  const needsTeam = path.includes("{team}") || earlier === undefined;
  for (const [name, make] of Object.entries(MAKERS)) {
    const needed = needsTeam && (name === "team" || name === "run");
    if (!needed && !path.includes(`{${name}}`)) continue;
    const hasBoard = name === "team" && /\/tasks|\{task\}/.test(path);
    ids[name] = hasBoard ? await newTeam(BOARD_COMPONENT) : await make(ids);
  }
  return { ids, token: needsTeam ? await newToken(ids["team"] ?? "") : earlier.token };
}

function fill(path: string, ids: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "none");
}

/** The status of every credential, as the row says. */
function expected(
  path: string,
  { needs, teamToken, status, creates, makes, elsewhere = 404, invalid = 422 }: Access,
  tried: Tried,
): Record<string, number> {
  const scopes = typeof needs === "string" ? undefined : needs;
  const forEverybody = needs === "nobody";
  const withKey = needs === "operator" ? 403 : status;
  const withToken = teamToken ? status : 403;
  const ofOtherTeam = forEverybody || needs === "any" || teamToken === "any" ? status : 403;
  return {
    ...Object.fromEntries(tried.refused.map((name) => [name, forEverybody ? status : 401])),
    ...Object.fromEntries(
      tried.scopes.map((scope) => [
        `static key with ${scope}`,
        scopes === undefined || scopes.includes(scope) ? withKey : 403,
      ]),
    ),
    "static key with all scopes": withKey,
    "created key": withKey,
    "identity token": withKey,
    "key of another tenant": creates
      ? 201
      : (makes ?? (/\{(?!tenant)/.test(path) ? elsewhere : withKey)),
    operator: scopes === undefined ? status : invalid,
    "operator in the tenant": status,
    "token of the team": withToken,
    "token of another team": ofOtherTeam,
  };
}

async function actual(
  method: string,
  path: string,
  { body, headers, refusals = "application/problem+json", status }: Access,
  tried: Tried,
) {
  let place = method === "GET" ? reading : await newPlace(path, reading);
  const answers: Record<string, number> = {};
  /** Without a credential given, with a token of the team. */
  const send = async (name: string, given?: string | null, tenant?: string) => {
    const { ids, token } = place;
    const response = await ask(given === undefined ? token : given, fill(path, ids), {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(tenant !== undefined && { tenant }),
    });
    let lacksScope = false;
    if (response.status >= 400) {
      expect(response.headers.get("content-type")).toBe(refusals);
      lacksScope = (await response.text()).includes("missing_scope");
    } else await response.body?.cancel();
    expect(response.headers.has("www-authenticate")).toBe(response.status === 401 || lacksScope);
    answers[name] = response.status;
    // What one credential has deleted is not there for the next, and an address that refuses all of them soon answers 429.
    if ((method === "DELETE" && response.ok) || status === 401)
      place = await newPlace(path, reading);
  };
  for (const name of [...tried.refused, ...ACCEPTED]) await send(name, credentials.get(name));
  for (const scope of tried.scopes) await send(`static key with ${scope}`, scope);
  await send("static key with all scopes", ALL);
  await send("key of another tenant", OTHER_TENANT);
  await send("operator", OPERATOR);
  await send("operator in the tenant", OPERATOR, "acme");
  await send("token of the team");
  return answers;
}

test("every operation of the OpenAPI document has a row, and every row an operation", async () => {
  const response = await ask(ALL, "/v1/openapi.json");
  const { paths } = (await response.json()) as { paths: Record<string, object> };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(ACCESS).toSorted()).toEqual(operations.toSorted());
});

describe("every credential", () => {
  const rows = Object.entries(ACCESS).map(
    ([operation, access], index) => [operation, access, triedCredentials(index, access)] as const,
  );
  test.for(rows)("%s", async ([operation, access, tried]) => {
    const [method = "", path = ""] = operation.split(" ");
    const { query = "" } = access;
    expect(await actual(method, path + query, access, tried)).toEqual(
      expected(path, access, tried),
    );
  });
});

describe("a credential of another tenant", () => {
  /** The content of all objects' tables. */
  function stored(): Record<string, unknown> {
    const files = globSync(join(state, "do/*/*.sqlite")).filter(
      (file) => !file.includes("metadata"),
    );
    return Object.fromEntries(files.map((file) => [file, tables(file)]).filter(([, one]) => one));
  }

  /** The same, once nothing changes it any more: runs of other tests may still be ending. */
  async function settled(): Promise<Record<string, unknown>> {
    let last = stored();
    const same = (): boolean => {
      const before = last;
      last = stored();
      return isDeepStrictEqual(last, before);
    };
    await expect.poll(same, { interval: 300 }).toBe(true);
    return last;
  }

  /** Which objects store anything, and what the team's stores: what else is stored may change by itself. */
  function about(team: string, all: Record<string, unknown>) {
    const content = Object.entries(all).filter(
      ([file, tables_]) =>
        file.includes("TeamObject") && inspect(tables_, { depth: 5 }).includes(team),
    );
    return { objects: Object.keys(all).toSorted(), content: Object.fromEntries(content) };
  }

  /** Undefined for an object that stores nothing. */
  function tables(file: string): Record<string, unknown[]> | undefined {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    try {
      const names = database
        .prepare("select name from sqlite_master where type = 'table'")
        .all()
        .map(({ name }) => String(name));
      if (names.length === 0) return undefined;
      return Object.fromEntries(
        names.map((name) => {
          const rows = database.prepare(`select * from "${name}"`);
          // Those of the runtime count in nanoseconds.
          rows.setReadBigInts(true);
          return [name, rows.all()];
        }),
      );
    } finally {
      database.close();
    }
  }

  test("finds nothing by any id, and writes nothing", async () => {
    const team = await newTeam(ASKING_COMPONENT);
    const { id: run } = await made<{ id: string }>(`/v1/teams/${team}/runs?wait=60`, {
      task: "Hi.",
    });
    const listed = await ask(ALL, `/v1/teams/${team}/runs/${run}/requests`);
    const { requests } = (await listed.json()) as { requests: { id: string }[] };
    const schedule = await newSchedule(team);
    const key = (await newKey()).id;
    const { collection = "", document = "", skill = "" } = reading.ids;
    const request = requests[0]?.id ?? "";
    const ids = { team, run, request, schedule, key, collection, document, skill };
    const before = about(team, await settled());
    expect(Object.keys(before.content)).toHaveLength(1);
    const answers: Record<string, number> = {};
    const wanted: Record<string, number> = {};
    for (const [operation, access] of Object.entries(ACCESS)) {
      const { query = "", body, headers, needs, creates, makes, elsewhere = 404 } = access;
      const [method = "", path = ""] = operation.split(" ");
      if (!path.includes("{") || needs === "operator" || creates || makes) continue;
      const response = await ask(OTHER_TENANT, fill(path + query, ids), { method, body, headers });
      const text = await response.text();
      for (const id of [team, run, ids.request, schedule]) {
        if (!fill(path, ids).includes(id)) expect(text).not.toContain(id);
      }
      answers[operation] = response.status;
      wanted[operation] = elsewhere;
    }
    expect(answers).toEqual(wanted);
    expect(Object.keys(answers).length).toBeGreaterThan(20);
    expect(about(team, stored())).toEqual(before);
    const mine = await ask(ALL, fill("/v1/teams/{team}/runs/{run}", ids));
    expect(await mine.json()).toMatchObject({ status: "waiting" });
  });
});
