import { describe, expect, test } from "vitest";
import { createApiKey } from "#auth/api-key.ts";
import { Credentials, credentialSources, isConfigured } from "#auth/authenticate.ts";
import { fromBase64 } from "#core/base64.ts";
import { sha256Hex } from "#core/sha256.ts";
import type { Principal } from "#auth/principal.ts";
import { TeamTokens } from "#auth/team-token.ts";
import { SCOPES } from "#contract/constants.ts";

const SECRETS_KEY = btoa("k".repeat(32));
const STATIC = "static-key-of-acme";
const OPERATOR = "operator-key";

async function credentials(
  createdKey?: Parameters<typeof credentialSources>[2],
): Promise<Credentials> {
  const settings = {
    SECRETS_KEY,
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(STATIC), tenant: "acme", scopes: ["runs:read"], name: "app" },
    ]),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
  };
  return new Credentials(credentialSources(settings, fetch, createdKey));
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

test("a created key is checked with its tenant, and the verdict remembered", async () => {
  const { key, id } = createApiKey("acme");
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

test("refusals are not remembered", async () => {
  const { key } = createApiKey("acme");
  let known = false;
  const { authenticate } = await credentials(async (tenant, id) =>
    known ? created(tenant, id) : undefined,
  );
  expect(await authenticate(request(bearer(key)))).toMatchObject({ problem: { status: 401 } });
  known = true;
  expect(await authenticate(request(bearer(key)))).toMatchObject({ tenant: "acme" });
});

test.each([
  ["none", {}, "missing_credentials"],
  ["another scheme", { authorization: "Basic YTpi" }, "missing_credentials"],
  ["an unknown one", bearer("no-such-key"), "invalid_credentials"],
  ["a created key that is unknown", bearer(createApiKey("acme").key), "invalid_credentials"],
  ["a mistyped key", bearer(`${createApiKey("acme").key.slice(0, -1)}-`), "invalid_credentials"],
  ["the hash instead of the key", bearer("0".repeat(64)), "invalid_credentials"],
  ["a token that is none", bearer("trpt_e30.AAAA"), "invalid_credentials"],
  [
    "an identity token without an issuer",
    bearer("eyJhbGciOiJSUzI1NiJ9.e30.AAAA"),
    "invalid_credentials",
  ],
  ["a very long one", bearer("x".repeat(10_000)), "invalid_credentials"],
])("with %s a request is refused", async (_, headers, code) => {
  const { authenticate } = await credentials(async () => undefined);
  const answer = await authenticate(request(headers));
  expect(answer).toMatchObject({
    problem: { status: 401, code },
    headers: { "www-authenticate": expect.stringMatching(/^Bearer /) },
  });
});

describe("team tokens", () => {
  const tokens = new TeamTokens(fromBase64(SECRETS_KEY));
  const claims = {
    tenant: "acme",
    team: "demo",
    creation: "c1",
    scopes: ["runs:read", "runs:write"] as const,
    expires_in: 600,
  };

  test("are good for one team", async () => {
    const { authenticate } = await credentials();
    const { token, expires_at } = await tokens.sign(claims, Date.now());
    const caller = await authenticate(request(bearer(token)));
    expect(caller).toEqual({
      id: expect.stringMatching(/^team:/),
      tenant: "acme",
      scopes: ["runs:read", "runs:write"],
      kind: "team",
      name: null,
      expires_at,
      team: { id: "demo", creation: "c1" },
    });
    // Another token is another caller, though it may do the same.
    const { token: second } = await tokens.sign(claims, Date.now());
    const other = await authenticate(request(bearer(second)));
    expect(other).not.toEqual(caller);
    expect({ ...other, id: "" }).toEqual({ ...caller, id: "", expires_at: expect.any(String) });
  });

  test("in a query open streams only, read only, for ten minutes at most", async () => {
    const { authenticate } = await credentials();
    const { token } = await tokens.sign(claims, Date.now());
    const stream = `/v1/teams/demo/events?token=${token}`;
    expect(await authenticate(request({}, stream))).toMatchObject({ scopes: ["runs:read"] });
    const refused = { problem: { status: 401 } };
    expect(await authenticate(request({}, `/v1/teams/demo?token=${token}`))).toMatchObject(refused);
    expect(
      await authenticate(new Request(`https://x.example.com${stream}`, { method: "POST" })),
    ).toMatchObject(refused);
    const long = await tokens.sign({ ...claims, expires_in: 601 }, Date.now());
    expect(
      await authenticate(request({}, `/v1/teams/demo/events?token=${long.token}`)),
    ).toMatchObject(refused);
    expect(await authenticate(request({}, `/v1/teams/demo/events?token=${STATIC}`))).toMatchObject(
      refused,
    );
  });

  test("end in time, and cannot be changed or signed with another key", async () => {
    const { authenticate } = await credentials();
    const refused = { problem: { status: 401 } };
    const old = await tokens.sign(claims, Date.now() - 601_000);
    expect(await authenticate(request(bearer(old.token)))).toMatchObject(refused);
    const { token } = await tokens.sign(claims, Date.now());
    const [payload = "", mac = ""] = token.slice("trpt_".length).split(".");
    const forged = btoa(atob(payload).replace("demo", "dema")).replaceAll("=", "");
    expect(await authenticate(request(bearer(`trpt_${forged}.${mac}`)))).toMatchObject(refused);
    const other = await new TeamTokens(new Uint8Array(32)).sign(claims, Date.now());
    expect(await authenticate(request(bearer(other.token)))).toMatchObject(refused);
  });
});

test("settings that cannot be used are named with the place", () => {
  const parse = (settings: Record<string, string>) => credentialSources(settings, fetch, undefined);
  expect(() => parse({ API_KEYS: "[" })).toThrow(/API_KEYS must be JSON/);
  expect(() => parse({ API_KEYS: '[{"hash":"x","tenant":"A","scopes":["all"]}]' })).toThrow(
    /\[0\]\.hash.*\[0\]\.tenant.*\[0\]\.scopes/,
  );
  expect(() => parse({ OPERATOR_KEY_HASH: "secret" })).toThrow(/OPERATOR_KEY_HASH/);
});

test.each([undefined, "", "no base64!", btoa("too short")])(
  "with the SECRETS_KEY %j a team token is refused as any other credential",
  async (key) => {
    const { authenticate } = new Credentials(
      credentialSources({ API_KEYS: "[]", SECRETS_KEY: key }, fetch, undefined),
    );
    expect(await authenticate(request(bearer("trpt_e30.AAAA")))).toMatchObject({
      problem: { status: 401 },
    });
  },
);

test("a deployment with a key for secrets only has nobody who may ask", () => {
  expect(isConfigured(credentialSources({ SECRETS_KEY }, fetch, undefined))).toBe(false);
  expect(isConfigured(credentialSources({ API_KEYS: "[]" }, fetch, undefined))).toBe(true);
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
