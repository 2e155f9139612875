import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";

const KEY = "acme-secret";
const OTHER_TENANT = "globex-secret";
const OPERATOR = "operator-secret";
const ISSUER = "https://id.example.com";
const AUDIENCE = "https://troupe.example.com";

interface MemoryAnswer {
  id: string;
  content: string;
  scope: string;
  score?: number;
}

interface Answer extends MemoryAnswer {
  http: number;
  code?: string;
  memories: MemoryAnswer[];
  next_cursor: string | null;
  errors?: { path: string }[];
}

const issuer = await generateKeyPair("ES256");
let worker: TestWorker;
let team: string;
/** A user of this test alone, and another one. */
let ada: string;
let bob: string;
let count = 0;

beforeAll(async () => {
  const jwks = { keys: [{ ...(await exportJWK(issuer.publicKey)), alg: "ES256" }] };
  const keys = [
    { hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES },
    { hash: await sha256Hex(OTHER_TENANT), tenant: "globex", scopes: SCOPES },
  ];
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(keys),
      OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
      TENANT_REQUESTS_PER_SECOND: "10000",
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: `${ISSUER}/jwks`,
      JWT_TENANT_CLAIM: "org",
    },
    {
      outgoing: ({ url }) =>
        url === `${ISSUER}/jwks` ? Response.json(jwks) : new Response(null, { status: 404 }),
    },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  count++;
  [team, ada, bob] = [`team-${count}`, `ada-${count}`, `bob-${count}`];
  await send(KEY, "POST", "/v1/teams", { id: team, component: SAMPLE_COMPONENT });
});

async function send(
  credential: string,
  method: string,
  path: string,
  body?: unknown,
  tenant?: string,
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${credential}`,
    ...(tenant !== undefined && { "troupe-tenant": tenant }),
  };
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  return { ...(text === "" ? {} : (JSON.parse(text) as object)), http: response.status } as Answer;
}

const list = (query: string, credential = KEY): Promise<Answer> =>
  send(credential, "GET", `/v1/memories?${query}`);
const add = (body: object, credential = KEY): Promise<Answer> =>
  send(credential, "POST", "/v1/memories", body);

function identity(sub: string): Promise<string> {
  return new SignJWT({ sub, org: "acme", scope: SCOPES.join(" ") })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime("5 minutes")
    .sign(issuer.privateKey);
}

async function tokenFor(user?: string, of = team): Promise<string> {
  const scopes = ["teams:read", "runs:read", "runs:write"];
  const body = { scopes, expires_in: 60, ...(user !== undefined && { user }) };
  const made = (await send(KEY, "POST", `/v1/teams/${of}/tokens`, body)) as unknown;
  return (made as { token: string }).token;
}

function queryOf(place: object): string {
  const fields = Object.entries(place).map(([name, value]) => `${name}=${String(value)}`);
  return fields.join("&");
}

const contents = ({ memories }: Answer): string[] => memories.map(({ content }) => content);

describe.each(["team", "user", "tenant"] as const)("memories of the scope %s", (scope) => {
  const place = (): object => ({
    scope,
    ...(scope === "team" && { team }),
    ...(scope === "user" && { user: ada }),
  });
  const query = (): string => queryOf(place());

  test("are added, listed, searched, corrected and forgotten", async () => {
    const word = `tea${count}`;
    const added = await add({ ...place(), content: `Likes ${word}.`, metadata: { kind: "taste" } });
    expect(added).toMatchObject({
      http: 201,
      scope,
      content: `Likes ${word}.`,
      metadata: { kind: "taste" },
      source: null,
      created_at: expect.any(String),
    });
    await add({ ...place(), content: "Works at night." });
    expect(contents(await list(query())).slice(0, 2)).toEqual([
      "Works at night.",
      `Likes ${word}.`,
    ]);
    const found = await list(`${query()}&q=${word}`);
    expect(found).toMatchObject({
      memories: [{ id: added.id, score: expect.any(Number) }],
      next_cursor: null,
      mode: "words",
    });
    const path = `/v1/memories/${added.id}`;
    expect(await send(KEY, "PATCH", path, { content: `Hates ${word}.` })).toMatchObject({
      http: 200,
      id: added.id,
      content: `Hates ${word}.`,
      metadata: { kind: "taste" },
    });
    expect(contents(await list(`${query()}&q=${word}`))).toEqual([`Hates ${word}.`]);
    expect(await send(KEY, "DELETE", path)).toMatchObject({ http: 204 });
    expect(await send(KEY, "DELETE", path)).toMatchObject({ http: 404 });
    expect(await send(KEY, "PATCH", path, { metadata: null })).toMatchObject({ http: 404 });
    expect(contents(await list(`${query()}&q=${word}`))).toEqual([]);
  });

  test("are added all or none, and paged", async () => {
    const memories = Array.from({ length: 5 }, (_, n) => ({ content: `Fact ${n}.` }));
    const refused = await add({ ...place(), memories: [...memories, { content: 5 }] });
    expect(refused).toMatchObject({ http: 422, errors: [{ path: "memories[5].content" }] });
    const before = contents(await list(query())).length;
    const added = await add({ ...place(), memories });
    expect(contents(added)).toEqual(memories.map(({ content }) => content));
    const first = await list(`${query()}&limit=3`);
    expect(first.memories).toHaveLength(3);
    const rest = await list(`${query()}&limit=200&cursor=${first.next_cursor}`);
    expect(first.memories.length + rest.memories.length).toBe(before + 5);
    expect(rest.next_cursor).toBeNull();
  });

  test("are added once by requests with the same Idempotency-Key", async () => {
    const store = async (...facts: string[]): Promise<unknown> => {
      const headers = {
        authorization: `Bearer ${KEY}`,
        "idempotency-key": `key-${count}-${scope}`,
      };
      const memories = facts.map((content) => ({ content }));
      const response = await worker.fetch(
        "/v1/memories",
        jsonInit({ ...place(), memories }, "POST", headers),
      );
      return response.json();
    };
    const before = contents(await list(query())).length;
    const added = await store("One.", "Two.");
    expect(await store("One.", "Two.")).toEqual(added);
    expect(await store("Other.")).toMatchObject({ code: "idempotency_mismatch" });
    expect(contents(await list(query()))).toHaveLength(before + 2);
  });
});

describe("memories by owner", () => {
  test("a user's memories are read by that user's credentials and keys of the tenant only", async () => {
    const { id } = await add({ scope: "user", user: ada, content: "Ada's secret." });
    const own = `scope=user&user=${ada}`;
    const [idAda, idBob] = [await identity(ada), await identity(bob)];
    const [tokenAda, tokenBob, token] = [
      await tokenFor(ada),
      await tokenFor(bob),
      await tokenFor(),
    ];
    for (const credential of [idAda, tokenAda]) {
      expect(contents(await list("scope=user", credential))).toEqual(["Ada's secret."]);
      expect(contents(await list(own, credential))).toEqual(["Ada's secret."]);
      expect(await list(`scope=user&user=${bob}`, credential)).toMatchObject({
        http: 403,
        code: "user_mismatch",
      });
    }
    for (const credential of [idBob, tokenBob, token]) {
      expect(await list(own, credential)).toMatchObject({ http: 403, code: "user_mismatch" });
      expect(await add({ scope: "user", user: ada, content: "x" }, credential)).toMatchObject({
        http: 403,
        code: "user_mismatch",
      });
      expect(await send(credential, "DELETE", `/v1/memories?user=${ada}`)).toMatchObject({
        http: 403,
      });
      const path = `/v1/memories/${id}`;
      expect(await send(credential, "PATCH", path, { content: "x" })).toMatchObject({ http: 404 });
      expect(await send(credential, "DELETE", path)).toMatchObject({ http: 404 });
    }
    expect(contents(await list("scope=user", idBob))).toEqual([]);
    expect(await list("scope=user", token)).toMatchObject({
      http: 422,
      errors: [{ path: "user" }],
    });
    expect(contents(await send(OPERATOR, "GET", `/v1/memories?${own}`, undefined, "acme"))).toEqual(
      ["Ada's secret."],
    );
  });

  test("list their users in pages, and an identity token sees its own", async () => {
    const users = async (credential: string, query = "") => {
      const page = await send(credential, "GET", `/v1/memories/users${query}`);
      return page as unknown as { users: string[]; next_cursor: string | null; http: number };
    };
    await add({ scope: "user", user: ada, content: "Tea." });
    await add({ scope: "user", user: bob, content: "Coffee." });
    const all = [];
    for (let query = "?limit=1"; ;) {
      const page = await users(KEY, query);
      expect(page.users).toHaveLength(1);
      all.push(...page.users);
      if (page.next_cursor === null) break;
      query = `?limit=1&cursor=${page.next_cursor}`;
    }
    expect(all).toEqual(expect.arrayContaining([ada, bob]));
    expect((await users(await identity(ada))).users).toEqual([ada]);
    expect((await users(await tokenFor(ada))).http).toBe(403);
    expect((await users(OTHER_TENANT)).users).not.toContain(ada);
  });

  test("are of their tenant, under the same names", async () => {
    for (const place of [
      { scope: "user", user: ada },
      { scope: "team", team },
      { scope: "tenant" },
    ]) {
      const { id } = await add({ ...place, content: "Of acme." });
      const query = queryOf(place);
      const others = await list(query, OTHER_TENANT);
      expect(others.memories ?? []).toEqual([]);
      expect(others.http).toBe(place.scope === "team" ? 404 : 200);
      const path = `/v1/memories/${id}`;
      expect(await send(OTHER_TENANT, "PATCH", path, { content: "x" })).toMatchObject({
        http: 404,
      });
      expect(await send(OTHER_TENANT, "DELETE", path)).toMatchObject({ http: 404 });
      await send(OTHER_TENANT, "DELETE", `/v1/memories?user=${ada}`);
      expect(contents(await list(query))).toContain("Of acme.");
    }
  });

  test("a team's memories are read with the token of the team, and of no other team; the tenant's with no team token", async () => {
    await add({ scope: "team", team, content: "Ours." });
    const token = await tokenFor();
    expect(contents(await list("scope=team", token))).toEqual(["Ours."]);
    const other = `other-${count}`;
    await send(KEY, "POST", "/v1/teams", { id: other, component: SAMPLE_COMPONENT });
    const foreign = await tokenFor(undefined, other);
    expect(await list(`scope=team&team=${team}`, foreign)).toMatchObject({
      http: 403,
      code: "other_team",
    });
    expect(await list("scope=tenant", token)).toMatchObject({ http: 403, code: "other_team" });
  });
});

test("the memories of a user are erased, and those of a run are withdrawn", async () => {
  await add({ scope: "user", user: ada, memories: [{ content: "One." }, { content: "Two." }] });
  expect(await send(KEY, "DELETE", `/v1/memories?user=${ada}`)).toMatchObject({
    http: 200,
    forgotten: 2,
  });
  expect(contents(await list(`user=${ada}`))).toEqual([]);
  const run = await send(KEY, "POST", `/v1/teams/${team}/runs?wait=60`, { task: "Hi.", user: ada });
  expect(await send(KEY, "DELETE", `/v1/memories?run=${run.id}`)).toMatchObject({
    http: 200,
    forgotten: 0,
  });
  expect(await send(await identity(bob), "DELETE", `/v1/memories?run=${run.id}`)).toMatchObject({
    http: 403,
    code: "user_mismatch",
  });
  expect(await send(KEY, "DELETE", "/v1/memories?run=none")).toMatchObject({ http: 404 });
});

test("a deleted tenant leaves no memories and no collections", async () => {
  const asked = (method: string, path: string, body?: unknown): Promise<Answer> =>
    send(OPERATOR, method, path, body, "doomed");
  const document = "/v1/collections/handbook/documents/guide";
  await asked("PUT", document, { mime_type: "text/plain", content: "Secret." });
  await asked("POST", "/v1/memories", { scope: "user", user: ada, content: "Secret." });
  expect(await asked("DELETE", "/v1/tenants/doomed")).toMatchObject({ http: 202 });
  await expect.poll(async () => (await asked("GET", "/v1/tenants/doomed")).http).toBe(404);
  await expect.poll(async () => (await asked("GET", document)).http).toBe(404);
  await expect
    .poll(async () => (await asked("GET", `/v1/memories?user=${ada}`)).memories)
    .toEqual([]);
  expect(await asked("GET", "/v1/collections")).toMatchObject({ collections: [] });
});

test("a bad request to memories names the field", async () => {
  const cases: [object, string][] = [
    [{ content: "x" }, "scope"],
    [{ scope: "galaxy", content: "x" }, "scope"],
    [{ scope: "team", content: "x" }, "team"],
    [{ scope: "user", content: "x" }, "user"],
    [{ scope: "tenant", user: ada, content: "x" }, "user"],
    [{ scope: "tenant" }, "content"],
    [{ scope: "tenant", content: "" }, "content"],
    [{ scope: "tenant", content: "x", memories: [{ content: "y" }] }, "content"],
    [{ scope: "tenant", memories: [] }, "memories"],
    [
      { scope: "tenant", memories: Array.from({ length: 1001 }, () => ({ content: "x" })) },
      "memories",
    ],
    [
      {
        memories: [
          { scope: "tenant", content: "x" },
          { user: ada, content: "y" },
        ],
      },
      "memories[1]",
    ],
  ];
  const large = { text: "x".repeat(100_000) };
  cases.push(
    [{ scope: "tenant", content: large }, "content"],
    [{ scope: "tenant", content: "x", metadata: large }, "metadata"],
    [{ scope: "tenant", memories: [{ content: "x", metadata: large }] }, "memories[0].metadata"],
  );
  for (const [body, path] of cases) {
    expect(await add(body), JSON.stringify(body).slice(0, 100)).toMatchObject({
      http: 422,
      errors: [{ path }],
    });
  }
  const texts = { scope: "tenant", content: "" };
  const content = "must be a text of 1 to 100000 characters, or a JSON object of as many";
  expect(await add(texts)).toMatchObject({ errors: [{ path: "content", message: content }] });
  const none = { path: "memories", message: "must be a list of 1 to 1000 entries" };
  expect(await add({ scope: "tenant", memories: [] })).toMatchObject({ errors: [none] });
  expect(await list("scope=tenant&q=")).toMatchObject({
    http: 422,
    errors: [{ path: "q", message: "must be a text of 1 to 10000 characters" }],
  });
  expect(await list("q=x")).toMatchObject({ http: 422, errors: [{ path: "scope" }] });
  expect(await send(KEY, "DELETE", "/v1/memories")).toMatchObject({ http: 422 });
  expect(await list("scope=team&team=none")).toMatchObject({ http: 404, code: "team_not_found" });
  for (const id of ["nonsense", "tenant.%25", "tenant.%2525", "user.____.x", "team.a%2Fb.x"]) {
    expect(await send(KEY, "PATCH", `/v1/memories/${id}`, { content: "x" }), id).toMatchObject({
      http: 404,
      code: "memory_not_found",
    });
  }
  const { id } = await add({ scope: "tenant", content: "Small." });
  const change = send(KEY, "PATCH", `/v1/memories/${id}`, { metadata: large });
  expect(await change).toMatchObject({ http: 422, errors: [{ path: "metadata" }] });
});
