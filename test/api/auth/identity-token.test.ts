import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  IdentityTokens,
  identityTokenSettings,
  IssuerUnavailableError,
} from "#api/auth/identity-token.ts";

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

const ISSUER = "https://id.example.com/";
const AUDIENCE = "https://troupe.example.com";

/** A real issuer as far as a verifier can tell: its keys over HTTP. */
let server: Server;
let jwksUrl: string;
let published: { kid: string; alg: string; pair: KeyPair }[] = [];
let fetches = 0;
let broken = false;

const pairs: Record<string, KeyPair> = {};

beforeAll(async () => {
  for (const alg of ["RS256", "ES256", "EdDSA", "PS256"]) {
    pairs[alg] = await generateKeyPair(alg, { extractable: true });
  }
  server = createServer((_request, response) => {
    fetches++;
    if (broken) return void response.writeHead(500).end("no");
    void Promise.all(
      published.map(async ({ kid, alg, pair }) => ({
        ...(await exportJWK(pair.publicKey)),
        kid,
        alg,
      })),
    ).then((keys) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys })),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

beforeEach(() => {
  published = [publish("one", "RS256")];
  fetches = 0;
  broken = false;
});

function publish(kid: string, alg: string): (typeof published)[number] {
  const pair = pairs[alg];
  if (pair === undefined) throw new Error(`no key for ${alg}`);
  return { kid, alg, pair };
}

function verifier(settings: Record<string, string> = {}): IdentityTokens {
  const parsed = identityTokenSettings({
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    JWT_JWKS_URL: jwksUrl,
    ...settings,
  });
  if (parsed === undefined) throw new Error("not configured");
  return new IdentityTokens(parsed, fetch);
}

function token(
  claims: JWTPayload = {},
  { kid = "one", alg = "RS256", at = 0, life = 300 } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000) + at;
  const jwt = new SignJWT({ sub: "acme", scope: "teams:read runs:write openid", ...claims })
    .setProtectedHeader({ alg, kid })
    .setIssuer(claims.iss ?? ISSUER)
    .setAudience(claims.aud ?? AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + life);
  return jwt.sign((pairs[alg] as KeyPair).privateKey);
}

test.each(["RS256", "ES256", "EdDSA"])(
  "a token signed with %s identifies its bearer",
  async (alg) => {
    published = [publish("one", alg)];
    expect(await verifier().verify(await token({}, { alg }))).toMatchObject({
      tenant: "acme",
      scopes: ["teams:read", "runs:write"],
      kind: "identity",
      name: "acme",
    });
  },
);

test("tokens of one subject are one caller, those of others are other callers, and a token without a subject is a caller of its own", async () => {
  const ids = await Promise.all(
    [{}, { scope: "runs:read" }, { sub: "bob", org: "acme" }, { sub: undefined, org: "acme" }].map(
      async (claims) =>
        (await verifier({ JWT_TENANT_CLAIM: "org" }).verify(
          await token({ org: "acme", ...claims }),
        ))!.id,
    ),
  );
  expect(ids[0]).toBe("identity:acme");
  expect(ids[1]).toBe(ids[0]);
  expect(new Set(ids).size).toBe(3);
});

test("an empty subject is refused: its logins and memories would be those of the tenant", async () => {
  const tokens = verifier({ JWT_TENANT_CLAIM: "org" });
  const principal = await tokens.verify(await token({ org: "acme", sub: "" }));
  expect(principal).toMatchObject({ tenant: "acme", user: null, name: null });
  expect(principal?.id).not.toBe("identity:");
});

test("a long subject is replaced by a short id, which a watcher's socket can keep", async () => {
  const tokens = verifier({ JWT_TENANT_CLAIM: "org" });
  const [first, again, other] = await Promise.all(
    ["界".repeat(1_000), "界".repeat(1_000), "界".repeat(999)].map(
      async (sub) => (await tokens.verify(await token({ org: "acme", sub })))?.id,
    ),
  );
  expect(first).toMatch(/^identity:sha256-[0-9a-f]{64}$/);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test("a claim that is not a valid tenant id becomes a hash", async () => {
  const principal = await verifier().verify(await token({ sub: "auth0|Jane Doe" }));
  expect(principal?.tenant).toMatch(/^u-[0-9a-f]{40}$/);
  // What looks like such a hash is hashed, too: no user can choose another's.
  const twin = await verifier().verify(await token({ sub: principal?.tenant ?? "" }));
  expect(twin?.tenant).not.toBe(principal?.tenant);
});

test("claims have the names that the settings specify, and scopes may be a list", async () => {
  const tokens = verifier({ JWT_TENANT_CLAIM: "org", JWT_SCOPES_CLAIM: "permissions" });
  const principal = await tokens.verify(
    await token({ org: "globex", permissions: ["usage:read", "admin"] }),
  );
  expect(principal).toMatchObject({ tenant: "globex", scopes: ["usage:read"], name: "acme" });
  expect(await tokens.verify(await token({}))).toBeUndefined();
});

test.each<[string, () => Promise<string> | string]>([
  ["that has expired", () => token({}, { at: -400 })],
  ["that is not valid yet", () => token({ nbf: Math.floor(Date.now() / 1000) + 120 })],
  ["of another issuer", () => token({ iss: "https://evil.example.com/" })],
  ["for another audience", () => token({ aud: "https://other.example.com" })],
  ["signed with another algorithm", () => token({}, { alg: "PS256" })],
  [
    "without a signature",
    () =>
      new UnsecuredJWT({ sub: "acme" })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setExpirationTime("5m")
        .encode(),
  ],
  [
    "that was changed",
    async () =>
      (await token()).replace(/\.[^.]+\./, `.${btoa('{"sub":"globex"}').replaceAll("=", "")}.`),
  ],
  [
    "signed with the issuer's public key as a secret",
    async () =>
      new SignJWT({ sub: "acme" })
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setExpirationTime("5m")
        .sign(
          new TextEncoder().encode(
            JSON.stringify(await exportJWK((pairs["RS256"] as KeyPair).publicKey)),
          ),
        ),
  ],
  ["that is not a token", () => "eyJhbGciOiJub25lIn0.x.y"],
])("a token %s is refused", async (_, make) => {
  expect(await verifier().verify(await make())).toBeUndefined();
});

test.each<[string, string | string[], string[] | undefined]>([
  ["the service", AUDIENCE, undefined],
  ["the service, with a slash", `${AUDIENCE}/`, undefined],
  ["the service and another", ["https://other.example.com", AUDIENCE], undefined],
  ["a part of it", `${AUDIENCE}/mcp`, ["/mcp"]],
  ["parts of it", [`${AUDIENCE}/mcp/teams/a/`, `${AUDIENCE}/v1`], ["/mcp/teams/a", "/v1"]],
  ["a part and the whole", [`${AUDIENCE}/mcp`, AUDIENCE], undefined],
])("a token for %s is accepted for it", async (_, aud, paths) => {
  const principal = await verifier().verify(await token({ aud }));
  expect(principal).toMatchObject({ tenant: "acme" });
  expect(principal?.paths).toEqual(paths);
});

test.each([
  ["of another host that begins so", `${AUDIENCE}.evil.example/mcp`],
  ["of another scheme", AUDIENCE.replace("https", "http")],
  ["of another port", `${AUDIENCE}:8443/mcp`],
  ["that is not an address", "troupe.example.com"],
  ["with a query", `${AUDIENCE}/?for=another`],
  ["with a fragment", `${AUDIENCE}/#another`],
])("a token for an audience %s is refused", async (_, aud) => {
  expect(await verifier().verify(await token({ aud }))).toBeUndefined();
});

test("audiences that are paths or not URLs are compared literally", async () => {
  const named = verifier({ JWT_AUDIENCE: "troupe" });
  expect(await named.verify(await token({ aud: "troupe" }))).toBeDefined();
  expect(await named.verify(await token({ aud: "troupe/mcp" }))).toBeUndefined();
  // Other applications of the same issuer have such audiences, too.
  const application = verifier({ JWT_AUDIENCE: "api://troupe" });
  expect(await application.verify(await token({ aud: "api://troupe" }))).toBeDefined();
  for (const aud of ["api://payroll", "api://troupe/v1", "urn:payroll"])
    expect(await application.verify(await token({ aud }))).toBeUndefined();
  const below = verifier({ JWT_AUDIENCE: `${AUDIENCE}/agents` });
  expect((await below.verify(await token({ aud: `${AUDIENCE}/agents/mcp` })))?.paths).toEqual([
    "/mcp",
  ]);
  expect(await below.verify(await token({ aud: `${AUDIENCE}/agentsmith` }))).toBeUndefined();
  expect(await below.verify(await token({ aud: AUDIENCE }))).toBeUndefined();
});

test("a clock may be off by a minute", async () => {
  expect(await verifier().verify(await token({}, { at: -350, life: 300 }))).toBeDefined();
});

test("an unknown key id causes one request to the issuer a minute", async () => {
  const tokens = verifier();
  expect(await tokens.verify(await token())).toBeDefined();
  expect(fetches).toBe(1);
  for (const kid of ["a", "b", "c"]) {
    expect(await tokens.verify(await token({}, { kid }))).toBeUndefined();
  }
  expect(fetches).toBe(1);
});

test("new keys of the issuer are found", async () => {
  const tokens = verifier();
  published = [publish("one", "ES256")];
  expect(await tokens.verify(await token({}, { alg: "ES256" }))).toBeDefined();
  const before = Date.now;
  try {
    Date.now = () => before() + 61_000;
    published = [publish("one", "ES256"), publish("two", "RS256")];
    expect(await tokens.verify(await token({}, { kid: "two" }))).toBeDefined();
    expect(fetches).toBe(2);
  } finally {
    Date.now = before;
  }
});

test("an issuer that does not answer does not count as an invalid token", async () => {
  broken = true;
  await expect(verifier().verify(await token())).rejects.toThrow(IssuerUnavailableError);
});

test("incomplete settings are named", () => {
  expect(identityTokenSettings({})).toBeUndefined();
  expect(() => identityTokenSettings({ JWT_ISSUER: ISSUER })).toThrow(
    /JWT_AUDIENCE and JWT_JWKS_URL/,
  );
  expect(() => verifier({ JWT_JWKS_URL: "no url" })).toThrow(/JWT_JWKS_URL/);
});
