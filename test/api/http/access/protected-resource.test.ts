import { expect, test } from "vitest";
import { type Authenticate, unauthorized } from "#api/auth/principal.ts";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { allowedOrigins } from "#api/http/access/cors.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

const ISSUER = "https://login.example.com/";
const METADATA = "/.well-known/oauth-protected-resource";
const AGENT_SCOPES = ["teams:read", "runs:read", "runs:write", "requests:write"];

const refused: Authenticate = async (request) => unauthorized(request.headers.has("authorization"));
const withScopes =
  (...scopes: Scope[]): Authenticate =>
  async () => ({ id: "x", tenant: "t", scopes, kind: "identity", name: null, expires_at: null });

function app(authenticate: Authenticate = refused, basePath = "") {
  const baseUrl = ({ url }: Pick<Request, "url">): string => new URL(url).origin + basePath;
  return testApp({ authenticate, resources: { issuer: ISSUER, baseUrl } });
}

/** The fields of a challenge. */
async function challenge(response: Response): Promise<Record<string, string>> {
  await response.body?.cancel();
  const header = response.headers.get("www-authenticate") ?? "";
  expect(header).toMatch(/^Bearer /);
  return Object.fromEntries(
    [...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
  );
}

test.each([
  ["", SCOPES],
  ["/mcp", AGENT_SCOPES],
  ["/mcp/teams/desk", AGENT_SCOPES],
  ["/a2a/teams/desk", AGENT_SCOPES],
  ["/ag-ui/teams/desk", AGENT_SCOPES],
  ["/ai-sdk/teams/desk", AGENT_SCOPES],
  ["/openai/v1", ["teams:read", "teams:write", "runs:read", "runs:write"]],
])("the metadata of the resource %j is read without a key, by any page", async (path, scopes) => {
  const response = await app().fetch(METADATA + path);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  expect(await response.json()).toEqual({
    resource: `http://localhost:8787${path}`,
    authorization_servers: [ISSUER],
    scopes_supported: scopes,
    bearer_methods_supported: ["header"],
    resource_name: "Troupe",
  });
});

test.each(["/v1", "/mcp/teams", "/mcp/teams/desk/more", "/nothing"])(
  "%s is not a protected resource",
  async (path) => {
    const response = await app().fetch(METADATA + path);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "not_found" });
  },
);

test.each(["/", "/mcp/", "/mcp/teams/desk/"])(
  "a URL with a slash at its end names the resource with the slash: %s",
  async (path) => {
    const { fetch } = app();
    const { resource_metadata = "" } = await challenge(await fetch(path));
    expect(resource_metadata).toBe(`http://localhost:8787${METADATA}${path}`);
    const response = await fetch(new URL(resource_metadata).pathname);
    expect(await response.json()).toMatchObject({ resource: `http://localhost:8787${path}` });
  },
);

test("a service without an issuer has no metadata, and the problem explains it", async () => {
  const response = await testApp({ authenticate: refused }).fetch(`${METADATA}/mcp`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({
    code: "issuer_not_configured",
    detail: expect.stringContaining("JWT_ISSUER"),
  });
});

test.each([
  ["/mcp", "/mcp"],
  ["/mcp/teams/desk", "/mcp/teams/desk"],
  ["/a2a/teams/desk/tasks", "/a2a/teams/desk"],
  ["/ai-sdk/teams/desk/chat", "/ai-sdk/teams/desk"],
  ["/openai/v1/responses", "/openai/v1"],
])("a refusal at %s names the metadata and the scopes", async (path, resource) => {
  const { fetch } = app();
  const expected = {
    realm: "troupe",
    scope: expect.stringContaining("runs:write"),
    resource_metadata: `http://localhost:8787${METADATA}${resource}`,
  };
  expect(await challenge(await fetch(path, jsonInit({})))).toEqual(expected);
  const given = await fetch(path, jsonInit({}, "POST", { authorization: "Bearer x" }));
  expect(given.status).toBe(401);
  expect(await challenge(given)).toEqual({ ...expected, error: "invalid_token" });
});

test("a refusal elsewhere names the metadata of the whole service", async () => {
  for (const path of ["/v1/teams", "/nothing", "/mcpx"]) {
    expect(await challenge(await app().fetch(path))).toEqual({
      realm: "troupe",
      resource_metadata: `http://localhost:8787${METADATA}`,
    });
  }
});

test("a missing scope is requested together with those that the caller has", async () => {
  const { fetch } = app(withScopes("runs:read", "teams:read"));
  const response = await fetch("/v1/teams/desk/runs", jsonInit({ task: "Hello." }));
  expect(response.status).toBe(403);
  expect(await challenge(response)).toEqual({
    realm: "troupe",
    error: "insufficient_scope",
    scope: "teams:read runs:read runs:write",
    resource_metadata: `http://localhost:8787${METADATA}`,
  });
});

test("the challenges of a service without an issuer name keys", async () => {
  const at = (authenticate: Authenticate) => testApp({ authenticate }).fetch("/v1/teams/desk");
  expect(await challenge(await at(refused))).toEqual({ realm: "troupe" });
  expect(await challenge(await at(withScopes()))).toEqual({
    realm: "troupe",
    error: "insufficient_scope",
    scope: "teams:read",
  });
});

test("a page of an allowed origin can follow each step from the preflight to the challenge", async () => {
  const origin = "https://inspector.example.com";
  const { fetch } = testApp({
    authenticate: refused,
    resources: { issuer: ISSUER, baseUrl: ({ url }) => new URL(url).origin },
    origins: allowedOrigins(origin),
  });
  const preflight = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, mcp-protocol-version",
  };
  for (const path of ["/mcp", `${METADATA}/mcp`]) {
    const { status, headers } = await fetch(path, { method: "OPTIONS", headers: preflight });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  }
  const called = await fetch("/mcp", jsonInit({}, "POST", { origin }));
  expect(called.headers.get("access-control-allow-origin")).toBe(origin);
  expect(called.headers.get("access-control-expose-headers")).toContain("WWW-Authenticate");
  await called.body?.cancel();
  const read = await fetch(`${METADATA}/mcp`, { headers: { origin } });
  expect([read.status, read.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
  await read.body?.cancel();
  const head = await fetch(`${METADATA}/mcp`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("the metadata of a service below a path contains its path", async () => {
  const { fetch } = app(refused, "/agents");
  expect(await challenge(await fetch("/mcp"))).toMatchObject({
    resource_metadata: `http://localhost:8787/agents${METADATA}/mcp`,
  });
  expect(await (await fetch(`${METADATA}/mcp`)).json()).toMatchObject({
    resource: "http://localhost:8787/agents/mcp",
  });
});

test("the URL of the service is PUBLIC_URL if it is set, whatever Host the request has", async () => {
  const baseUrl = (): string => "https://troupe.example.com/agents";
  const { fetch } = testApp({ authenticate: refused, resources: { issuer: ISSUER, baseUrl } });
  const { resource_metadata } = await challenge(await fetch("http://evil.example/mcp"));
  expect(resource_metadata).toBe(`${baseUrl()}${METADATA}/mcp`);
  const document = await fetch(`http://evil.example${METADATA}/mcp`);
  expect(await document.json()).toMatchObject({ resource: `${baseUrl()}/mcp` });
});
