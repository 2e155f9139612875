// Clients of MCP that know the address of the server and nothing else: they find the OpenID provider, register there or name
// a document about themselves, and their user signs in.
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError as OldUnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "../support/access.ts";
import { CLIENT_DOCUMENT, clientMetadata, REDIRECT } from "../support/authorization-server.ts";
import { type SignIn, startSignIn } from "./support/sign-in.ts";

let stage: SignIn;
let issuer: SignIn["issuer"];
let worker: SignIn["worker"];
let origin: string;

beforeAll(async () => {
  stage = await startSignIn();
  ({ issuer, worker, origin } = stage);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider["tokens"]>>>;

/** What a client keeps, and where its user went last. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata;
  readonly clientMetadataUrl?: string;
  page: URL | undefined;
  #client: ReturnType<OAuthClientProvider["clientInformation"]>;
  #tokens: Tokens | undefined;
  #discovered: OAuthDiscoveryState | undefined;
  #verifier = "";

  constructor({ scope, document }: { scope?: string; document?: string } = {}) {
    this.clientMetadata = { ...clientMetadata("Test"), ...(scope !== undefined && { scope }) };
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  get token(): string {
    return this.#tokens?.access_token ?? "";
  }

  clientInformation(): ReturnType<OAuthClientProvider["clientInformation"]> {
    return this.#client;
  }
  saveClientInformation(client: { client_id: string }): void {
    this.#client = client;
  }
  tokens(): Tokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: Tokens): void {
    this.#tokens = tokens;
  }
  redirectToAuthorization(page: URL): void {
    this.page = page;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
}

/** Connects a client whose user has not signed in yet, after signing in. */
async function connected(path: string, authProvider: Keeper): Promise<Client> {
  const url = new URL(path, origin);
  const first = new StreamableHTTPClientTransport(url, { authProvider });
  await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(
    UnauthorizedError,
  );
  await first.finishAuth(await issuer.signIn(authProvider.page as URL));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
  return client;
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as never;
}

test("a client registers, its user signs in, and it runs a team", async () => {
  const keeper = new Keeper();
  const client = await connected("/mcp", keeper);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("run_Desk");
  const result = await client.callTool({ name: "run_Desk", arguments: { task: "Hello." } });
  expect(result.isError).not.toBe(true);
  expect(claimsOf(keeper.token)).toMatchObject({
    iss: issuer.issuer,
    sub: "ada",
    aud: `${origin}/mcp`,
    scope: expect.stringContaining("runs:write"),
  });
  await client.close();
});

test("a user whose tenant has no team gets an answer of a template, by tools alone", async () => {
  const keeper = new Keeper();
  const client = await connected("/mcp", keeper);
  const { tools } = await client.listTools();
  const given = { task: "Write about ships." };
  expect(tools.map(({ name }) => name)).toContain("run_writer_critic");
  const { structuredContent } = await client.callTool({
    name: "run_writer_critic",
    arguments: given,
  });
  const { team_id, status } = structuredContent as { team_id: string; status: string };
  expect(status).toBe("completed");
  // The team is of the user who signed in; the token for /mcp is for nothing else.
  const team = await worker.fetch(`/v1/teams/${team_id}`, { headers: bearer("ada") });
  expect(await team.json()).toMatchObject({ label: "writer_critic", user: "ada" });
  const whole = await worker.fetch("/v1/whoami", { headers: bearer(keeper.token) });
  expect(whole.status).toBe(401);
  await whole.body?.cancel();
  await client.close();
});

test("a client that names a document about itself needs no registration", async () => {
  const keeper = new Keeper({ document: CLIENT_DOCUMENT });
  const client = await connected("/mcp", keeper);
  expect((await client.listTools()).tools).not.toEqual([]);
  expect(claimsOf(keeper.token)).toMatchObject({ client_id: CLIENT_DOCUMENT });
  await client.close();
});

test("an older client of the SDK can sign in, too", async () => {
  const keeper = new Keeper();
  const url = new URL("/mcp", origin);
  const first = new OldTransport(url, { authProvider: keeper });
  const before = new OldClient({ name: "test", version: "1" });
  await expect(before.connect(first)).rejects.toThrow(OldUnauthorizedError);
  const code = (await issuer.signIn(keeper.page as URL)).get("code");
  await first.finishAuth(code ?? "");
  const client = new OldClient({ name: "test", version: "1" });
  await client.connect(new OldTransport(url, { authProvider: keeper }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run_Desk");
  await client.close();
});

test("a token for a team is valid for that team alone", async () => {
  const keeper = new Keeper();
  const client = await connected("/mcp/teams/desk", keeper);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("run_Desk");
  await client.close();
  for (const path of ["/mcp", "/mcp/teams/desktop", "/v1/whoami", "/v1/teams/desk"]) {
    const response = await worker.fetch(path, { headers: bearer(keeper.token) });
    expect([path, response.status]).toEqual([path, 401]);
    await response.body?.cancel();
  }
});

test("a client that lacks a scope asks for it, besides those that it has", async () => {
  const keeper = new Keeper();
  // The token of a user who agreed to less.
  keeper.saveTokens({ access_token: await tokenWith("teams:read"), token_type: "Bearer" });
  const client = new Client({ name: "test", version: "1" });
  const url = new URL("/mcp", origin);
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: keeper }));
  expect((await client.listTools()).tools).not.toEqual([]);
  await expect(
    client.callTool({ name: "run_Desk", arguments: { task: "Hello." } }),
  ).rejects.toThrow(UnauthorizedError);
  expect(keeper.page?.searchParams.get("scope")?.split(" ")).toEqual(
    expect.arrayContaining(["teams:read", "runs:write"]),
  );
  await client.close();
});

/** A token for /mcp with one scope. */
async function tokenWith(scope: string): Promise<string> {
  const keeper = new Keeper();
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", origin), {
    authProvider: keeper,
  });
  await expect(new Client({ name: "test", version: "1" }).connect(transport)).rejects.toThrow(
    UnauthorizedError,
  );
  const page = new URL(keeper.page as URL);
  page.searchParams.set("scope", scope);
  await transport.finishAuth(await issuer.signIn(page));
  return keeper.token;
}
