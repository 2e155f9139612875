import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiKey } from "#api/auth/api-key.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";

const ISSUER = "https://id.example.com";
const AUDIENCE = "https://troupe.example.com";

const issuer = await generateKeyPair("ES256");
let keys: Server;
let worker: TestWorker;

beforeAll(async () => {
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(issuer.publicKey)), alg: "ES256" }] });
  keys = createServer((_, response) => response.end(jwks)).listen(0, "127.0.0.1");
  await new Promise((resolve) => keys.once("listening", resolve));
  worker = await TestWorker.start({
    TROUPE_OPEN: "1",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex("plain-key"), tenant: "acme", scopes: ["runs:read"] },
    ]),
    OPERATOR_KEY_HASH: await sha256Hex("operator-key"),
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    JWT_JWKS_URL: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  keys.close();
});

function ask(credential: string | null, path: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> =
    credential === null ? {} : { authorization: `Bearer ${credential}` };
  return worker.fetch(path, body === undefined ? { headers } : jsonInit(body, "POST", headers));
}

async function made<T>(path: string, body: unknown): Promise<T> {
  const response = await ask(null, path, body);
  expect(response.status, path).toBe(201);
  return (await response.json()) as T;
}

async function statusOf(credential: string | null, path: string): Promise<number> {
  const response = await ask(credential, path);
  await response.body?.cancel();
  return response.status;
}

function identityToken(expires: number): Promise<string> {
  return new SignJWT({ sub: "ann", tenant: "acme", scope: "teams:read" })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(expires - 600)
    .setExpirationTime(expires)
    .sign(issuer.privateKey);
}

test("an open server gives a credential of Troupe its own rights, and refuses one that is not valid", async () => {
  const { id: team } = await made<{ id: string }>("/v1/teams", { component: SAMPLE_COMPONENT });
  const { id: other } = await made<{ id: string }>("/v1/teams", { component: SAMPLE_COMPONENT });
  const key = await made<{ id: string; key: string }>("/v1/keys", {
    name: "reader",
    scopes: ["teams:read"],
  });
  const revoked = await made<{ id: string; key: string }>("/v1/keys", { name: "revoked" });
  await worker.fetch(`/v1/keys/${revoked.id}`, { method: "DELETE" });
  const token = (scopes: string[]): Promise<{ id: string; token: string }> =>
    made(`/v1/teams/${team}/tokens`, { scopes, expires_in: 300 });
  const reads = await token(["teams:read", "runs:read"]);
  const share = await token(["conversation:read"]);
  const ended = await token(["teams:read"]);
  await worker.fetch(`/v1/teams/${team}/tokens/${ended.id}`, { method: "DELETE" });
  const now = Math.floor(Date.now() / 1000);
  const jwt = await identityToken(now + 300);

  const [teamOf, runs, conversation] = ["", "/runs", "/conversation"].map(
    (rest) => `/v1/teams/${team}${rest}`,
  ) as [string, string, string];
  const expected: [name: string, credential: string | null, path: string, status: number][] = [
    ["nothing", null, runs, 200],
    ["a text of another service", "sk-none", runs, 200],
    ["a placeholder", "none", runs, 200],
    ["a created key", key.key, teamOf, 200],
    ["a created key, beyond its scopes", key.key, runs, 403],
    ["a revoked key", revoked.key, teamOf, 401],
    ["a key of another server", (await createApiKey("local")).key, teamOf, 401],
    ["a mistyped key", "trp_local_x", teamOf, 401],
    ["a team token", reads.token, runs, 200],
    ["a team token at another team", reads.token, `/v1/teams/${other}`, 403],
    ["a team token, beyond its scopes", share.token, runs, 403],
    ["a share link", share.token, conversation, 200],
    ["a share link at the whole team", share.token, teamOf, 403],
    ["a revoked team token", ended.token, teamOf, 401],
    ["a forged team token", `${reads.token}A`, teamOf, 401],
    ["an identity token", jwt, "/v1/teams", 200],
    ["an identity token, beyond its scopes", jwt, "/v1/runs", 403],
    ["an expired identity token", await identityToken(now - 300), "/v1/teams", 401],
    ["a static key", "plain-key", "/v1/runs", 200],
    ["a static key, beyond its scopes", "plain-key", "/v1/teams", 403],
    ["the operator's key", "operator-key", "/v1/tenants", 200],
    ["a token in the query", null, `${runs}?token=none`, 422],
    ["a team token in the query", null, `/v1/teams/${team}/events?token=${reads.token}`, 200],
    ["a share link in the query", null, `/v1/teams/${team}/events?token=${share.token}`, 403],
    ["a revoked one in the query", null, `/v1/teams/${team}/events?token=${ended.token}`, 401],
  ];
  const answered: typeof expected = [];
  for (const [name, credential, path] of expected) {
    answered.push([name, credential, path, await statusOf(credential, path)]);
  }
  expect(answered).toEqual(expected);
  expect(await (await ask(reads.token, "/v1/whoami")).json()).toMatchObject({
    kind: "team",
    team_id: team,
  });
});

test("a request without a credential acts in the tenant that it names, as a page's users have tenants of theirs", async () => {
  const whoami = async (tenant: string): Promise<Response> =>
    worker.fetch("/v1/whoami", { headers: { "troupe-tenant": tenant } });
  expect(await (await whoami("acme")).json()).toMatchObject({ tenant: "acme", kind: "local" });
  const refused = await whoami("../acme");
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ code: "invalid_tenant" });
});
