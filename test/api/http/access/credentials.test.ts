import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApiKey } from "#api/auth/api-key.ts";
import { crc32, toBase62 } from "#api/auth/bytes.ts";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

const OPERATOR = "operator-secret";
const ACME = "acme-secret";
const GLOBEX = "globex-secret";
const READER = "reader-secret";
const MANAGER = ["teams:read", "teams:write", "keys:write"];
const BUSY = "busy-secret";
const LOST = "lost-secret";
const ORIGIN = "https://app.example.com";

let worker: TestWorker;
let count = 0;

beforeAll(async () => {
  const keys = [
    { hash: await sha256Hex(ACME), tenant: "acme", scopes: SCOPES, name: "all" },
    { hash: await sha256Hex(GLOBEX), tenant: "globex", scopes: SCOPES },
    { hash: await sha256Hex(BUSY), tenant: "busy", scopes: SCOPES },
    { hash: await sha256Hex(LOST), tenant: "lost", scopes: SCOPES },
    { hash: await sha256Hex(READER), tenant: "acme", scopes: MANAGER },
  ];
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify(keys),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    ALLOWED_ORIGINS: `${ORIGIN}, *`,
    TENANT_REQUESTS_PER_SECOND: "1000",
    REFUSALS_PER_MINUTE: "200",
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

let team: string;

beforeEach(async () => {
  team = `team-${++count}`;
  const response = await ask(ACME, "/v1/teams", { id: team, component: SAMPLE_COMPONENT });
  expect(response.status).toBe(201);
  await response.body?.cancel();
});

/** Sends a request with a credential; a body makes it a POST. */
function ask(
  credential: string | null,
  path: string,
  body?: unknown,
  { method, headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Response> {
  const all = {
    ...headers,
    ...(credential !== null && { authorization: `Bearer ${credential}` }),
  };
  const init = body === undefined ? { headers: all } : jsonInit(body, "POST", all);
  return worker.fetch(path, { ...init, ...(method !== undefined && { method }) });
}

async function json<T = Record<string, unknown>>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

async function created(scopes?: Scope[]): Promise<{ id: string; key: string }> {
  const response = await ask(ACME, "/v1/keys", { name: "made", ...(scopes && { scopes }) });
  expect(response.status).toBe(201);
  return json(response);
}

async function teamToken(scopes: Scope[], expires_in = 300): Promise<string> {
  const response = await ask(ACME, `/v1/teams/${team}/tokens`, { scopes, expires_in });
  expect(response.status).toBe(201);
  return (await json<{ token: string }>(response)).token;
}

test("whoami reports who a credential stands for", async () => {
  expect(await json(await ask(ACME, "/v1/whoami"))).toEqual({
    tenant: "acme",
    scopes: SCOPES,
    kind: "static",
    name: "all",
    expires_at: null,
    user: null,
    currency: null,
    team_id: null,
  });
  const { key } = await created(["runs:read"]);
  expect(await json(await ask(key, "/v1/whoami"))).toMatchObject({
    tenant: "acme",
    kind: "created",
    name: "made",
    scopes: ["runs:read"],
  });
  expect(await json(await ask(await teamToken(["runs:read"]), "/v1/whoami"))).toMatchObject({
    kind: "team",
    team_id: team,
  });
});

test.each([
  ["none", null],
  ["an unknown one", "no-such-key"],
  ["a key of the right form", (await createApiKey("acme")).key],
])("a deployment with %s gives one answer to every request but /healthz", async (_, credential) => {
  for (const path of ["/v1/whoami", `/v1/teams/${team}`, "/v1/nothing", "/v1/tenants"]) {
    const response = await ask(credential, path);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer /);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    await response.body?.cancel();
  }
  expect((await ask(credential, "/healthz")).status).toBe(200);
});

test("tenants do not see each other", async () => {
  for (const [path, body] of [
    [`/v1/teams/${team}`],
    [`/v1/teams/${team}/messages`],
    [`/v1/teams/${team}/events`],
    [`/v1/teams/${team}/runs`, { task: "Hello." }],
    [`/v1/teams/${team}/tokens`, { scopes: ["runs:read"], expires_in: 60 }],
  ] as const) {
    const response = await ask(GLOBEX, path, body);
    expect(response.status).toBe(404);
    await response.body?.cancel();
  }
  const { id } = await created();
  expect((await ask(GLOBEX, `/v1/keys/${id}`, undefined, { method: "DELETE" })).status).toBe(404);
  expect(await json(await ask(GLOBEX, "/v1/keys"))).toEqual({ keys: [], next_cursor: null });
});

describe("created keys", () => {
  test("are shown once, listed without their secret, and end when they are revoked", async () => {
    const { id, key } = await created(["teams:read"]);
    expect(key).toMatch(/^trp_acme_/);
    expect((await ask(key, `/v1/teams/${team}`)).status).toBe(200);
    const listed = await (await ask(ACME, "/v1/keys")).text();
    expect(listed).toContain(id);
    expect(listed).not.toContain(key.slice(-20));
    expect((await ask(ACME, `/v1/keys/${id}`, undefined, { method: "DELETE" })).status).toBe(204);
    const fresh = await created(["teams:read"]);
    await ask(ACME, `/v1/keys/${fresh.id}`, undefined, { method: "DELETE" });
    expect((await ask(fresh.key, `/v1/teams/${team}`)).status).toBe(401);
  });

  test("that are forged are refused without a hint whether the key exists", async () => {
    const { id, key } = await created(["teams:read"]);
    const swap = (text: string, from: string, to: string): string => {
      const changed = text.replace(from, to).slice(0, -6);
      return changed + toBase62(crc32(changed));
    };
    const answers = new Set<string>();
    for (const forged of [
      swap(key, id, Array.from(id).toReversed().join("")),
      swap(key, "_acme_", "_globex_"),
      swap(key, key.slice(-20, -6), "A".repeat(14)),
      (await createApiKey("acme")).key,
    ]) {
      const response = await ask(forged, "/v1/whoami");
      expect(response.status).toBe(401);
      answers.add(await response.text());
    }
    expect(answers.size).toBe(1);
    expect((await ask(key, "/v1/whoami")).status).toBe(200);
  });

  test("are listed in pages", async () => {
    await Promise.all(Array.from({ length: 3 }, () => created(["runs:read"])));
    const seen = new Set<string>();
    let cursor: string | null = "";
    while (cursor !== null) {
      const query = cursor === "" ? "" : `&cursor=${cursor}`;
      const page: { keys: { id: string }[]; next_cursor: string | null } = await json(
        await ask(ACME, `/v1/keys?limit=2${query}`),
      );
      for (const { id } of page.keys) seen.add(id);
      cursor = page.next_cursor;
    }
    const all = await json<{ keys: unknown[] }>(await ask(ACME, "/v1/keys?limit=200"));
    expect(seen.size).toBe(all.keys.length);
  });

  test("cannot have more scopes than the credential that makes them", async () => {
    const refused = await ask(READER, "/v1/keys", { name: "more", scopes: ["runs:write"] });
    expect(refused.status).toBe(403);
    expect(await json(refused)).toMatchObject({
      code: "missing_scope",
      detail: expect.stringContaining("runs:write"),
    });
    const same = await ask(READER, "/v1/keys", { name: "same" });
    expect(await json(same)).toMatchObject({ scopes: MANAGER });
  });

  test("lack the scopes that were not granted, and the answer names the missing one", async () => {
    const { key } = await created(["requests:write"]);
    const refused = await ask(key, `/v1/teams/${team}/runs`, { task: "Hello." });
    expect(refused.status).toBe(403);
    expect(await json(refused)).toMatchObject({ detail: expect.stringContaining("runs:write") });
  });

  test("have a body whose faults are named", async () => {
    for (const [body, path] of [
      [{}, "name"],
      [{ name: "x", scopes: ["all"] }, "scopes[0]"],
      [{ name: "x", scopes: [] }, "scopes"],
      [{ name: "x", expires_in: 0 }, "expires_in"],
      [{ name: "x", secret: "mine" }, "secret"],
    ] as const) {
      const response = await ask(ACME, "/v1/keys", body);
      expect(response.status).toBe(422);
      expect(await json(response)).toMatchObject({ errors: [{ path }] });
    }
  });
});

describe("the operator", () => {
  test("acts in the tenant that the header names", async () => {
    const path = `/v1/teams/${team}`;
    const missing = await ask(OPERATOR, path);
    expect(missing.status).toBe(422);
    expect(await json(missing)).toMatchObject({ errors: [{ path: "Troupe-Tenant" }] });
    const inTenant = (tenant: string) =>
      ask(OPERATOR, path, undefined, { headers: { "troupe-tenant": tenant } });
    expect((await inTenant("acme")).status).toBe(200);
    expect((await inTenant("globex")).status).toBe(404);
  });

  test("names tenants and overrides limits; no other credential does", async () => {
    const body = { label: "Initech", limits: { requests_per_second: 7 } };
    const put = await ask(OPERATOR, "/v1/tenants/initech", body, { method: "PUT" });
    expect(await json(put)).toMatchObject({ id: "initech", ...body });
    expect(await json(await ask(OPERATOR, "/v1/tenants/initech"))).toMatchObject(body);
    expect((await ask(OPERATOR, "/v1/tenants/unknown")).status).toBe(404);
    await expect
      .poll(async () => JSON.stringify(await json(await ask(OPERATOR, "/v1/tenants"))))
      .toContain('{"id":"initech","label":"Initech"}');
    for (const path of ["/v1/tenants", "/v1/tenants/acme"]) {
      const refused = await ask(ACME, path);
      expect(refused.status).toBe(403);
      expect(await json(refused)).toMatchObject({ code: "operator_only" });
    }
    const wrong = await ask(OPERATOR, "/v1/tenants/Initech", {}, { method: "PUT" });
    expect(wrong.status).toBe(422);
  });
});

describe("team tokens", () => {
  test("are valid for their team only", async () => {
    const token = await teamToken(["teams:read", "runs:write"]);
    expect((await ask(token, `/v1/teams/${team}`)).status).toBe(200);
    expect((await ask(token, `/v1/teams/${team}/runs`, { task: "Hello." })).status).toBe(202);
    expect((await ask(token, "/v1/teams/other")).status).toBe(403);
    expect((await ask(token, "/v1/templates")).status).toBe(403);
    expect((await ask(token, "/v1/keys", { name: "x" })).status).toBe(403);
    const minted = await ask(token, `/v1/teams/${team}/tokens`, {
      scopes: ["teams:read"],
      expires_in: 60,
    });
    expect(await json(minted)).toMatchObject({ status: 403, code: "missing_scope" });
  });

  test("cannot have scopes that the key lacks, or that a browser must not have", async () => {
    for (const [key, scope] of [
      [READER, "runs:read"],
      [ACME, "keys:write"],
      [ACME, "teams:write"],
    ] as const) {
      const refused = await ask(key, `/v1/teams/${team}/tokens`, {
        scopes: [scope],
        expires_in: 60,
      });
      expect(refused.status).toBe(403);
      expect(await json(refused)).toMatchObject({ detail: expect.stringContaining(scope) });
    }
  });

  test("end with the team, also when another team gets its id", async () => {
    const token = await teamToken(["teams:read", "runs:read"]);
    const ended = async () => {
      for (const path of [`/v1/teams/${team}`, `/v1/teams/${team}/events`, "/v1/whoami"]) {
        expect((await ask(token, path)).status, path).toBe(401);
      }
      expect((await ask(null, `/v1/teams/${team}/events?token=${token}`)).status).toBe(401);
    };
    await ask(ACME, `/v1/teams/${team}`, undefined, { method: "DELETE" });
    await ended();
    await ask(ACME, "/v1/teams", { id: team, component: SAMPLE_COMPONENT });
    await ended();
  });

  test("are revoked one by one, or all that exist", async () => {
    const make = async (): Promise<{ id: string; token: string }> =>
      json(await ask(ACME, `/v1/teams/${team}/tokens`, { scopes: ["runs:read"], expires_in: 600 }));
    const statusOf = async (token: string): Promise<number> =>
      (await ask(token, `/v1/teams/${team}/runs`)).status;
    const remove = async (path: string, key = ACME): Promise<number> =>
      (await ask(key, `/v1/teams/${team}/tokens${path}`, undefined, { method: "DELETE" })).status;
    const [leaked, other] = [await make(), await make()];
    expect([await statusOf(leaked.token), await statusOf(other.token)]).toEqual([200, 200]);
    expect(await remove(`/${leaked.id}`, leaked.token)).toBe(403);
    expect(await remove(`/${leaked.id}`)).toBe(204);
    expect(await remove(`/${leaked.id}`)).toBe(204);
    expect([await statusOf(leaked.token), await statusOf(other.token)]).toEqual([401, 200]);
    expect(await remove("", GLOBEX)).toBe(404);
    expect(await remove("")).toBe(204);
    expect(await statusOf(other.token)).toBe(401);
    expect(await statusOf((await make()).token)).toBe(200);
  });

  test("reveal nothing about the body of a request to another team", async () => {
    const token = await teamToken(["runs:write"]);
    expect((await ask(token, "/v1/teams/other/runs", { nonsense: 1 })).status).toBe(403);
  });

  test("that come in a query open a stream, and nothing else", async () => {
    const token = await teamToken(["runs:read", "runs:write"]);
    const stream = await ask(null, `/v1/teams/${team}/events?token=${token}`);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    expect((await ask(null, `/v1/teams/${team}/runs?token=${token}`)).status).toBe(401);
    const long = await teamToken(["runs:read"], 3600);
    expect((await ask(null, `/v1/teams/${team}/events?token=${long}`)).status).toBe(401);
  });
});

test("an address that guesses credentials has to wait, and its valid credentials do not", async () => {
  const guesser = { headers: { "cf-connecting-ip": "203.0.113.99" } };
  const guess = (): Promise<Response> => ask("guess", "/v1/whoami", undefined, guesser);
  const answers: Response[] = [];
  for (let round = 0; round < 6; round++) {
    answers.push(...(await Promise.all(Array.from({ length: 50 }, guess))));
  }
  const statuses = answers.map(({ status }) => status);
  expect(statuses.slice(0, 150)).toEqual(Array(150).fill(401));
  expect(statuses.at(-1)).toBe(429);
  const limited = answers.at(-1)!;
  expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await json(limited)).toMatchObject({
    code: "too_many_refusals",
    limit: "refusals_per_minute",
    value: 200,
  });
  expect((await ask(ACME, "/v1/whoami", undefined, guesser)).status).toBe(200);
  expect((await ask("guess", "/v1/whoami")).status).toBe(401);
});

describe("a page of another site", () => {
  const preflight = (origin: string): Promise<Response> =>
    ask(null, `/v1/teams/${team}/runs`, undefined, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });

  test("may send requests from an allowed origin, without cookies", async () => {
    const asked = await preflight(ORIGIN);
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(asked.headers.get("access-control-allow-headers")).toContain("Authorization");
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    const response = await ask(ACME, `/v1/teams/${team}`, undefined, {
      headers: { origin: ORIGIN },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe(ORIGIN);
    expect(response.headers.get("vary")).toContain("Origin");
    const refused = await ask("wrong", `/v1/teams/${team}`, undefined, {
      headers: { origin: ORIGIN },
    });
    expect(refused.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  });

  test.each(["null", "https://app.example.com.evil.example", "http://app.example.com"])(
    "%s may send requests with a team token only",
    async (origin) => {
      const read = async (credential: string) =>
        (
          await ask(credential, `/v1/teams/${team}`, undefined, { headers: { origin } })
        ).headers.get("access-control-allow-origin");
      expect(await read(ACME)).toBeNull();
      expect(await read(await teamToken(["teams:read"]))).toBe(origin === "null" ? null : origin);
    },
  );
});

test("a tenant over its limit of requests has to wait", async () => {
  const limits = { requests_per_second: 3 };
  await ask(OPERATOR, "/v1/tenants/busy", { limits }, { method: "PUT" });
  const responses = await Promise.all(Array.from({ length: 12 }, () => ask(BUSY, "/v1/whoami")));
  const refused = responses.find(({ status }) => status === 429);
  expect(responses.some(({ status }) => status === 200)).toBe(true);
  expect(refused?.headers.get("retry-after")).toBe("1");
  expect(refused?.headers.get("ratelimit-policy")).toBe('"requests_per_second";q=3;w=1');
  expect(refused && (await json(refused))).toMatchObject({
    code: "too_many_requests",
    limit: "requests_per_second",
    value: 3,
  });
  expect((await ask(ACME, "/v1/whoami")).status).toBe(200);
});

test("requests to unknown paths and with other methods count towards the limit", async () => {
  const limits = { requests_per_second: 2 };
  await ask(OPERATOR, "/v1/tenants/lost", { limits }, { method: "PUT" });
  for (const [path, method] of [
    ["/v1/nowhere", "GET"],
    ["/v1/templates", "DELETE"],
    ["/v1/templates", "OPTIONS"],
  ] as const) {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => ask(LOST, path, undefined, { method })),
    );
    expect(responses.map(({ status }) => status)).toContain(429);
  }
});
