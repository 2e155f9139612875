import { describe, expect, test } from "vitest";
import { createApiKey, KeySigner } from "#api/auth/api-key.ts";
import {
  Credentials,
  type CredentialSources,
  credentialSources,
  isConfigured,
} from "#api/auth/authenticate.ts";
import { crc32, toBase62 } from "#api/auth/bytes.ts";
import { fromBase64 } from "#core/base64.ts";
import { sha256Hex } from "#core/hash.ts";
import type { Principal } from "#api/auth/principal.ts";
import { TeamTokens } from "#api/auth/team-token.ts";
import { SCOPES } from "#contract/constants.ts";

const SECRETS_KEY = btoa("k".repeat(32));
const STATIC = "static-key-of-acme";
const OPERATOR = "operator-key";

async function credentials(createdKey?: CredentialSources["createdKey"]): Promise<Credentials> {
  const settings = {
    SECRETS_KEY,
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(STATIC), tenant: "acme", scopes: ["runs:read"], name: "app" },
    ]),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
  };
  return new Credentials(credentialSources(settings, fetch, { createdKey }));
}

function request(headers: Record<string, string> = {}, path = "/v1/teams"): Request {
  return new Request(new URL(path, "https://troupe.example.com"), { headers });
}

function bearer(credential: string): Record<string, string> {
  return { authorization: `Bearer ${credential}` };
}

test("a static key has its tenant and scopes", async () => {
  const { authenticate } = await credentials();
  expect(await authenticate(request(bearer(STATIC)))).toEqual({
    id: `static:${await sha256Hex(STATIC)}`,
    tenant: "acme",
    scopes: ["runs:read"],
    kind: "static",
    name: "app",
    expires_at: null,
  });
});

test("an operator acts in the tenant that the header names", async () => {
  const { authenticate } = await credentials();
  expect(await authenticate(request(bearer(OPERATOR)))).toMatchObject({
    tenant: "",
    kind: "operator",
  });
  expect(
    await authenticate(request({ ...bearer(OPERATOR), "troupe-tenant": "globex" })),
  ).toMatchObject({ tenant: "globex", scopes: SCOPES, kind: "operator" });
  expect(
    await authenticate(request({ ...bearer(OPERATOR), "troupe-tenant": "../acme" })),
  ).toMatchObject({ problem: { status: 422, errors: [{ path: "Troupe-Tenant" }] } });
  // Only theirs: others stay where they are.
  expect(
    await authenticate(request({ ...bearer(STATIC), "troupe-tenant": "globex" })),
  ).toMatchObject({ tenant: "acme" });
});

test("a created key is checked by its tenant, and the verdict is kept", async () => {
  const { key, id } = await createApiKey("acme");
  const asked: string[] = [];
  const { authenticate } = await credentials(async (tenant, keyId, hash) => {
    asked.push(`${tenant} ${keyId}`);
    return hash === (await sha256Hex(key)) ? created(tenant, keyId) : undefined;
  });
  expect(await authenticate(request(bearer(key)))).toMatchObject({
    tenant: "acme",
    kind: "created",
  });
  expect(await authenticate(request(bearer(key)))).toMatchObject({ tenant: "acme" });
  expect(asked).toEqual([`acme ${id}`]);
});

const signer = new KeySigner(fromBase64(SECRETS_KEY));
const made = await createApiKey("acme");

/** Credentials that count how often a tenant is asked about a key. */
async function counting(settings: Record<string, string> = {}, known = new Set<string>()) {
  const asked: string[] = [];
  const { authenticate } = new Credentials(
    credentialSources({ SECRETS_KEY, ...settings }, fetch, {
      createdKey: async (tenant, id) => {
        asked.push(id);
        return known.has(id) ? created(tenant, id) : undefined;
      },
    }),
  );
  const statusOf = async (key: string, address = "203.0.113.7"): Promise<number> => {
    const answer = await authenticate(request({ ...bearer(key), "cf-connecting-ip": address }));
    return "problem" in answer ? answer.problem.status : 200;
  };
  return { asked, statusOf };
}

describe("keys that another deployment made", () => {
  test("are refused without a request to a tenant, however many there are", async () => {
    const { asked, statusOf } = await counting();
    const forger = new KeySigner(fromBase64(btoa("f".repeat(32))));
    const mine = (await createApiKey("acme", signer)).key;
    for (let round = 0; round < 200; round++) {
      const { key } = await createApiKey("acme", forger);
      // The name of the signer that is known to everybody who has a key.
      const text = key.slice(0, -32) + mine.slice(-32, -28) + key.slice(-28, -6);
      expect(await statusOf(text + toBase62(crc32(text)))).toBe(401);
    }
    expect(asked).toEqual([]);
  });

  test("are refused from memory for ten seconds once a tenant has refused them", async () => {
    const { asked, statusOf } = await counting();
    for (let round = 0; round < 5; round++) expect(await statusOf(made.key)).toBe(401);
    expect(asked).toHaveLength(1);
  });

  test("that name no existing secret cause few requests to tenants for each address", async () => {
    const { asked, statusOf } = await counting();
    const statuses = new Map<number, number>();
    for (let round = 0; round < 200; round++) {
      const status = await statusOf((await createApiKey("acme")).key);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(asked.length).toBeGreaterThanOrEqual(60);
    expect(asked.length).toBeLessThan(70);
    expect(statuses.get(429)).toBe(200 - asked.length);
    expect(await statusOf((await createApiKey("acme")).key, "203.0.113.8")).toBe(401);
  });
});

describe("created keys", () => {
  test("that have no MAC, or whose secret was lost, stay valid", async () => {
    const before = await createApiKey("acme");
    const earlier = await createApiKey("acme", new KeySigner(fromBase64(btoa("e".repeat(32)))));
    const present = await createApiKey("acme", signer);
    const known = new Set([before.id, earlier.id, present.id]);
    const { statusOf } = await counting({}, known);
    for (let round = 0; round < 100; round++) {
      const { key } = await createApiKey("acme", new KeySigner(fromBase64(btoa("x".repeat(32)))));
      await statusOf(key);
    }
    // The address has asked too much, others have not. A key with the present MAC needs no budget.
    expect(await statusOf(present.key)).toBe(200);
    expect(await statusOf(before.key)).toBe(429);
    expect(await statusOf(before.key, "203.0.113.9")).toBe(200);
    expect(await statusOf(earlier.key, "203.0.113.9")).toBe(200);
    // What turned out to be valid costs the address nothing.
    for (let round = 0; round < 100; round++) {
      const one = await createApiKey("acme");
      known.add(one.id);
      expect(await statusOf(one.key, "203.0.113.9")).toBe(200);
    }
  });

  test("are signed with a secret of their own if one is set", async () => {
    const own = { CREATED_KEYS_SECRET: btoa("o".repeat(32)) };
    const key = await createApiKey("acme", new KeySigner(fromBase64(own.CREATED_KEYS_SECRET)));
    const { statusOf } = await counting(own, new Set([key.id]));
    expect(await statusOf(key.key)).toBe(200);
    await expect(counting({ CREATED_KEYS_SECRET: "short" })).rejects.toThrow("32 bytes");
  });
});

test("a previous secret keeps its keys valid, and other keys are refused without a request to a tenant", async () => {
  const previous = btoa("e".repeat(32));
  const keys = {
    present: await createApiKey("acme", signer),
    previous: await createApiKey("acme", new KeySigner(fromBase64(previous))),
    unsigned: await createApiKey("acme"),
    other: await createApiKey("acme", new KeySigner(fromBase64(btoa("x".repeat(32))))),
  };
  const known = new Set(Object.values(keys).map(({ id }) => id));
  const settings = { CREATED_KEYS_SECRET_PREVIOUS: previous };
  const { asked, statusOf } = await counting(settings, known);
  const statuses = Object.values(keys).map(({ key }) => statusOf(key));
  expect(await Promise.all(statuses)).toEqual([200, 200, 401, 401]);
  expect(asked).toHaveLength(2);
  const forged = keys.previous.key.replace(keys.previous.id, keys.other.id);
  expect(await statusOf(forged)).toBe(401);
  expect(asked).toHaveLength(2);
  await expect(counting({ CREATED_KEYS_SECRET_PREVIOUS: "short" })).rejects.toThrow("32 bytes");
  await expect(
    counting({ CREATED_KEYS_SECRET_PREVIOUS: previous, SECRETS_KEY: "" }),
  ).rejects.toThrow("CREATED_KEYS_SECRET_PREVIOUS needs CREATED_KEYS_SECRET or SECRETS_KEY");
});

describe("failed credentials of an address", () => {
  test.for([
    ["203.0.113.7", "203.0.113.8"],
    ["2001:db8:1:2::7", "2001:db8:1:3::7"],
  ] as const)("%s are limited, and %s has a limit of its own", async ([address, other]) => {
    const { statusOf } = await counting({ REFUSALS_PER_MINUTE: "10" });
    const statuses: number[] = [];
    for (let round = 0; round < 30; round++)
      statuses.push(await statusOf(`guess-${round}`, address));
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(12)).toEqual(Array(18).fill(429));
    if (address.includes(":")) expect(await statusOf("guess", "2001:db8:1:2:ffff::1")).toBe(429);
    expect(await statusOf("guess", other)).toBe(401);
  });

  test.for(["0", "-1", "many"])("REFUSALS_PER_MINUTE may not be %s", async (value) => {
    await expect(counting({ REFUSALS_PER_MINUTE: value })).rejects.toThrow("REFUSALS_PER_MINUTE");
  });
});

test.each([
  ["none", {}, "missing_credentials"],
  ["another scheme", { authorization: "Basic YTpi" }, "missing_credentials"],
  ["an unknown one", bearer("no-such-key"), "invalid_credentials"],
  ["a created key that is unknown", bearer(made.key), "invalid_credentials"],
  ["a mistyped key", bearer(`${made.key.slice(0, -1)}-`), "invalid_credentials"],
  ["the hash instead of the key", bearer("0".repeat(64)), "invalid_credentials"],
  ["an invalid token", bearer("trpt_e30.AAAA"), "invalid_credentials"],
  [
    "an identity token without an issuer",
    bearer("eyJhbGciOiJSUzI1NiJ9.e30.AAAA"),
    "invalid_credentials",
  ],
  ["a very long one", bearer("x".repeat(10_000)), "invalid_credentials"],
])("a request is refused if its credential is %s", async (_, headers, code) => {
  const { authenticate } = await credentials(async () => undefined);
  const answer = await authenticate(request(headers));
  expect(answer).toMatchObject({ problem: { status: 401, code } });
});

describe("team tokens", () => {
  const tokens = new TeamTokens(fromBase64(SECRETS_KEY));
  const claims = {
    tenant: "acme",
    team: "demo",
    creation: "c1",
    scopes: ["runs:read", "runs:write"] as const,
  };
  const signed = (life = 600, now = Date.now(), by = tokens) =>
    by.sign({ ...claims, exp: Math.floor(now / 1000) + life }, now);

  test("are valid for one team", async () => {
    const { authenticate } = await credentials();
    const { id, token, expires_at } = await signed();
    const caller = await authenticate(request(bearer(token)));
    expect(caller).toEqual({
      id: expect.stringMatching(/^team:/),
      tenant: "acme",
      scopes: ["runs:read", "runs:write"],
      kind: "team",
      name: null,
      user: null,
      expires_at,
      team: {
        id: "demo",
        token: { creation: "c1", id, made_at: expect.closeTo(Date.now(), -4) },
      },
    });
    // Another token is another caller, though it may do the same.
    const { token: second } = await signed();
    const other = await authenticate(request(bearer(second)));
    expect(other).not.toEqual(caller);
    expect(other).toMatchObject({ tenant: "acme", scopes: ["runs:read", "runs:write"] });
  });

  test("that come in a query open streams only, read only, for ten minutes at most", async () => {
    const { authenticate } = await credentials();
    const { token } = await signed();
    const stream = `/v1/teams/demo/events?token=${token}`;
    expect(await authenticate(request({}, stream))).toMatchObject({ scopes: ["runs:read"] });
    const refused = { problem: { status: 401 } };
    expect(await authenticate(request({}, `/v1/teams/demo?token=${token}`))).toMatchObject(refused);
    expect(
      await authenticate(new Request(`https://x.example.com${stream}`, { method: "POST" })),
    ).toMatchObject(refused);
    const long = await signed(601);
    expect(
      await authenticate(request({}, `/v1/teams/demo/events?token=${long.token}`)),
    ).toMatchObject(refused);
    expect(await authenticate(request({}, `/v1/teams/demo/events?token=${STATIC}`))).toMatchObject(
      refused,
    );
  });

  test("expire, and cannot be changed or signed with another key", async () => {
    const { authenticate } = await credentials();
    const refused = { problem: { status: 401 } };
    const old = await signed(600, Date.now() - 601_000);
    expect(await authenticate(request(bearer(old.token)))).toMatchObject(refused);
    const { token } = await signed();
    const [payload = "", mac = ""] = token.slice("trpt_".length).split(".");
    const forged = btoa(atob(payload).replace("demo", "dema")).replaceAll("=", "");
    expect(await authenticate(request(bearer(`trpt_${forged}.${mac}`)))).toMatchObject(refused);
    const other = await signed(600, Date.now(), new TeamTokens(new Uint8Array(32)));
    expect(await authenticate(request(bearer(other.token)))).toMatchObject(refused);
  });
});

test("invalid settings are named with their place", () => {
  const parse = (settings: Record<string, string>) => credentialSources(settings, fetch, {});
  expect(() => parse({ API_KEYS: "[" })).toThrow(/API_KEYS must be JSON/);
  expect(() => parse({ API_KEYS: '[{"hash":"x","tenant":"A","scopes":["all"]}]' })).toThrow(
    /\[0\]\.hash.*\[0\]\.tenant.*\[0\]\.scopes/,
  );
  expect(() => parse({ OPERATOR_KEY_HASH: "secret" })).toThrow(/OPERATOR_KEY_HASH/);
});

test.each([undefined, "", "no base64!", btoa("too short")])(
  "a team token is refused like any other credential while SECRETS_KEY is %j",
  async (key) => {
    const { authenticate } = new Credentials(
      credentialSources({ API_KEYS: "[]", SECRETS_KEY: key }, fetch, {}),
    );
    expect(await authenticate(request(bearer("trpt_e30.AAAA")))).toMatchObject({
      problem: { status: 401 },
    });
  },
);

test("a deployment with only a key for secrets refuses every request", () => {
  expect(isConfigured(credentialSources({ SECRETS_KEY }, fetch, {}))).toBe(false);
  expect(isConfigured(credentialSources({ API_KEYS: "[]" }, fetch, {}))).toBe(true);
});

function created(tenant: string, name: string): Principal {
  return {
    id: `created:${name}`,
    tenant,
    scopes: ["runs:read"],
    kind: "created",
    name,
    expires_at: null,
  };
}
