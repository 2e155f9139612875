// Runs whose MCP server wants a login: a real OpenID provider, the Worker as it is deployed, and a human with a browser.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ConnectionList, StartedConnection } from "#contract/tenant/connection.ts";
import { issuerName, oauthClientAddresses } from "#contract/tenant/oauth-client.ts";
import type { RunInfo } from "#contract/run.ts";
import type { JsonObject } from "troupe";
import { bearer, deployed } from "../api/protocols/support/access.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../api/protocols/support/authorization-server.ts";
import { LoginBrowser } from "../components/mcp/support/login-browser.ts";
import { TestMcpServer } from "../components/mcp/support/test-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { freePort } from "../support/ports.ts";

let issuer: AuthorizationServer;
let mcp: TestMcpServer;
let worker: KillableWorker;
let origin: string;
/** What the Worker has logged. */
let logged = "";
let browser: LoginBrowser;
/** Where the last login has led to. */
let asked: URL;
/** Tokens that the server no longer accepts. */
const revoked = new Set<string>();

const SCOPES = ["tools", "tools:call"];

/** @param publicUrl null: the setting is missing */
async function start(publicUrl?: string | null): Promise<void> {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const base = publicUrl ?? origin;
  logged = "";
  browser = new LoginBrowser((url) => url.replace(base, origin));
  const documents: Record<string, () => Promise<Response>> = {};
  issuer = await startAuthorizationServer(SCOPES, documents);
  const { pathname } = new URL(
    oauthClientAddresses(base, await issuerName(issuer.issuer)).clientMetadataUrl,
  );
  documents[base + pathname] = () => fetch(origin + pathname);
  mcp = await TestMcpServer.start();
  revoked.clear();
  mcp.guard = { issuer: issuer.issuer, scope: "tools", lacks };
  const exact = [mcp.url, issuer.issuer].map((url) => `http://${new URL(url).host}`).join(",");
  const settings = await deployed({
    ALLOWED_EGRESS: exact,
    ...(publicUrl !== null && { PUBLIC_URL: base }),
  });
  const logs = (line: string): void => {
    logged += line;
  };
  worker = await KillableWorker.start(settings, { port, logs });
}

/** What an access token lacks, as a server finds it that checks its audience, its end and its scopes. */
function lacks(token: string, method: string | undefined): "token" | { scope: string } | null {
  const [, payload = ""] = token.split(".");
  const decoded = Buffer.from(payload, "base64url").toString() || "{}";
  const claims = JSON.parse(decoded) as { exp?: number; aud?: string; scope?: string };
  const late = (claims.exp ?? 0) * 1000 <= Date.now();
  if (revoked.has(token) || claims.aud !== mcp.url || late) return "token";
  const scopes = (claims.scope ?? "").split(" ");
  const wanted = method === "tools/call" ? stepUp : undefined;
  return wanted === undefined || scopes.includes(wanted) ? null : { scope: wanted };
}

/** The scope that a call needs besides those of the login, if any. */
let stepUp: string | undefined;

beforeEach(() => {
  stepUp = undefined;
});

afterEach(async () => {
  await worker[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

async function json<T>(path: string, body?: object, key = "acme"): Promise<T> {
  const init = body === undefined ? { headers: bearer(key) } : jsonInit(body, "POST", bearer(key));
  const response = await fetch(origin + path, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** What the API says at an address of the team `desk`. */
async function text(path: string): Promise<string> {
  const response = await fetch(`${origin}/v1/teams/desk${path}`, { headers: bearer("acme") });
  expect(response.status, path).toBe(200);
  return response.text();
}

const CALL = {
  finish_reason: "function_calls",
  content: [{ id: "c", name: "echo", arguments: '{"text":"hi"}' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  cached: false,
};

/** An agent that calls a tool of the server, `calls` times at once. */
async function newAgent(id: string, calls = 1): Promise<void> {
  const content = Array.from({ length: calls }, (_, n) => ({ ...CALL.content[0], id: `c${n}` }));
  const component = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      description: "Uses the tools.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      workbench: [
        {
          provider: "autogen_ext.tools.mcp.McpWorkbench",
          config: { server_params: { type: "StreamableHttpServerParams", url: mcp.url } },
        },
      ],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [
            { ...CALL, content },
            { ...CALL, content },
          ],
          model_info: {
            vision: false,
            function_calling: true,
            json_output: false,
            structured_output: false,
            family: "unknown",
          },
        },
      },
    },
  };
  await json("/v1/teams", { id, component });
}

const run = (team: string): Promise<RunInfo> =>
  json(`/v1/teams/${team}/runs?wait=30`, { task: "go" });

/** Waits until a run has ended, or asks something else than `before`. */
async function next(team: string, { id, requests: [before] }: RunInfo): Promise<RunInfo> {
  return vi.waitFor(
    async () => {
      const info = await json<RunInfo>(`/v1/teams/${team}/runs/${id}`);
      const [question] = info.requests;
      if (info.ended_at === null && (question === undefined || question.id === before?.id)) {
        throw new Error(`the run is ${info.status}`);
      }
      return info;
    },
    { timeout: 30_000, interval: 25 },
  );
}

/** The address that a waiting run shows to a human. */
function loginOf(info: RunInfo): URL {
  const [request] = info.requests;
  expect(request).toMatchObject({ kind: "input" });
  expect(request?.prompt).toContain(request?.url ?? "no address");
  return new URL(request?.url ?? "");
}

/** Logs in at an address, and comes back. */
async function logIn(page: URL): Promise<void> {
  const shown = await comeBack(await signIn(page));
  expect(await shown.text()).toContain("<h1>Connected to ");
}

/** Continues on the page of a login, and signs in. @returns what the browser brings back */
async function signIn(page: URL): Promise<URLSearchParams> {
  asked = await browser.continue(page.href);
  return issuer.signIn(asked);
}

/** Comes back to the Worker with what the browser was given. */
async function comeBack(back: URLSearchParams): Promise<Response> {
  return browser.read(`${asked.searchParams.get("redirect_uri")}?${back.toString()}`);
}

test("a run waits for a login by dynamic registration, and continues by itself", async () => {
  await start();
  await newAgent("desk");
  const waiting = await run("desk");
  expect(waiting.status).toBe("waiting");
  const page = loginOf(waiting);
  expect(page.origin).toBe(origin);
  // The server dies while the human is away.
  await worker.kill();
  await worker.restart();
  const back = await signIn(page);
  expect(asked.origin).toBe(issuer.issuer);
  expect(asked.searchParams.get("code_challenge_method")).toBe("S256");
  expect(asked.searchParams.get("resource")).toBe(mcp.url);
  expect(asked.searchParams.get("scope")).toContain("tools");
  const shown = await comeBack(back);
  expect(shown.status).toBe(200);
  expect(shown.headers.get("content-type")).toContain("text/html");
  expect(await shown.text()).toContain("tenant &#34;acme&#34;");
  const ended = await next("desk", waiting);
  expect(ended.status).toBe("completed");
  expect(ended.result?.messages.at(-1)).toMatchObject({ content: "echo: hi" });
  // A code is redeemed once.
  expect((await comeBack(back)).status).toBe(404);
  const { connections } = await json<ConnectionList>("/v1/connections");
  expect(connections).toMatchObject([
    { server: mcp.url, status: "connected", scope: "tools", issuer: issuer.issuer },
  ]);
  // Nothing but the server ever gets a token.
  const tokens = mcp.headers.flatMap(({ authorization }) => authorization?.slice(7) ?? []);
  expect(tokens.length).toBeGreaterThan(0);
  const paths = ["", "/state", "/messages", `/runs/${ended.id}`, `/runs/${ended.id}/trace`];
  const shownTexts = [logged, JSON.stringify(connections), ...(await Promise.all(paths.map(text)))];
  for (const token of tokens) {
    for (const one of shownTexts) expect(one).not.toContain(token);
    for (const file of globSync(join(worker.state, "**/*.sqlite*"))) {
      expect(readFileSync(file, "latin1")).not.toContain(token);
    }
  }
  // Other teams of the tenant use the same login.
  await newAgent("second");
  expect((await run("second")).status).toBe("completed");
});

test("authorization servers that read documents of clients get this server's", async () => {
  await start("https://client.example");
  const started = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  const page = new URL(started.authorization_url);
  expect(started).toMatchObject({ server: mcp.url, status: "login_needed", connected_at: null });
  await logIn(page);
  expect(asked.searchParams.get("redirect_uri")).toMatch(/^https:\/\/client\.example\/v1\//);
  const { pathname } = new URL(asked.searchParams.get("client_id") ?? "");
  const client = await json<JsonObject>(pathname);
  expect(asked.searchParams.get("client_id")).toBe(client["client_id"]);
  await newAgent("desk");
  expect((await run("desk")).status).toBe("completed");
});

test("a login is for the tenant that began it, once", async () => {
  await start();
  const begun = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  const back = await signIn(new URL(begun.authorization_url));
  const state = back.get("state") ?? "";
  const foreign = new URLSearchParams(back);
  foreign.set("state", state.replace("acme.", "globex."));
  expect((await comeBack(foreign)).status).toBe(404);
  for (const wrong of ["", "acme", "acme.", `${state}x`, "no tenant.x"]) {
    const other = new URLSearchParams(back);
    other.set("state", wrong);
    expect((await comeBack(other)).status, wrong).toBe(404);
  }
  // Two requests at once: one redeems it.
  const both = await Promise.all([comeBack(back), comeBack(back)]);
  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 404]));
  expect(await json("/v1/connections", undefined, "globex")).toMatchObject({ connections: [] });
});

test("a login that is over is refused", async () => {
  await start();
  const begun = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  expect(Date.parse(begun.expires_at) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  await worker.kill();
  let changed = 0;
  for (const file of globSync(join(worker.state, "**/*.sqlite"))) {
    using database = new DatabaseSync(file);
    const exists = "select 1 from sqlite_master where name = 'login'";
    if (database.prepare(exists).get() === undefined) continue;
    const past = "update login set record = json_set(record, '$.until', ?)";
    changed += Number(database.prepare(past).run(Date.now()).changes);
  }
  expect(changed).toBe(1);
  await worker.restart();
  await expect(signIn(new URL(begun.authorization_url))).rejects.toThrow("404");
});

test("a run without PUBLIC_URL names the operation whose login it waits for", async () => {
  await start(null);
  await newAgent("desk");
  const waiting = await run("desk");
  expect(waiting.requests[0]?.prompt).toContain("POST /v1/connections");
  expect(waiting.requests[0]).not.toHaveProperty("url");
  // An answer without a login asks again.
  const path = `/v1/teams/desk/runs/${waiting.id}/requests/${waiting.requests[0]?.id}`;
  await json(path, { content: "done" });
  const again = await next("desk", waiting);
  expect(again.status).toBe("waiting");
  const begun = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  await logIn(new URL(begun.authorization_url));
  expect((await next("desk", again)).status).toBe("completed");
});

test("a login that comes from another authorization server is refused", async () => {
  await start();
  const begun = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  const back = await signIn(new URL(begun.authorization_url));
  back.set("iss", "https://evil.example");
  const page = await comeBack(back);
  expect(page.status).toBe(422);
  expect(await page.text()).not.toContain("evil.example");
  const { connections } = await json<ConnectionList>("/v1/connections");
  expect(connections).toMatchObject([{ status: "login_needed" }]);
});

test("parallel calls renew a token once, and a refused renewal asks a human again", async () => {
  await start();
  const begun = await json<StartedConnection>("/v1/connections", { server: mcp.url });
  await logIn(new URL(begun.authorization_url));
  await newAgent("desk", 3);
  // All tokens that were used until now are refused: each of the calls finds that.
  const used = new Set<string>();
  mcp.guard = {
    issuer: issuer.issuer,
    scope: "tools",
    lacks(token, method) {
      if (method === "tools/call" && used.size === 0) used.add(token);
      return used.has(token) ? "token" : lacks(token, method);
    },
  };
  const ended = await run("desk");
  expect(ended.status).toBe("completed");
  expect(ended.result?.messages.at(-1)).toMatchObject({ content: "echo: hi\necho: hi\necho: hi" });
  const tokens = new Set(mcp.headers.map(({ authorization }) => authorization));
  tokens.delete(undefined);
  expect(tokens.size).toBe(2);
  // The server accepts no token of this login any longer.
  mcp.guard = {
    issuer: issuer.issuer,
    scope: "tools",
    lacks: (token) => (tokens.has(`Bearer ${token}`) || isRenewed(token) ? "token" : null),
  };
  let renewed: string | undefined;
  function isRenewed(token: string): boolean {
    renewed ??= token;
    return renewed === token;
  }
  await newAgent("second");
  const waiting = await run("second");
  expect(waiting.status).toBe("waiting");
  await logIn(loginOf(waiting));
  expect((await next("second", waiting)).status).toBe("completed");
});

test("a call that needs more scopes asks for a login with them, at most three times", async () => {
  await start();
  stepUp = "tools:call";
  await newAgent("desk");
  const listing = await run("desk");
  await logIn(loginOf(listing));
  const calling = await next("desk", listing);
  await logIn(loginOf(calling));
  expect(asked.searchParams.get("scope")?.split(" ")).toEqual(
    expect.arrayContaining(["tools", "tools:call"]),
  );
  const ended = await next("desk", calling);
  expect(ended.result?.messages.at(-1)).toMatchObject({ content: "echo: hi" });
  // A server that is never content.
  mcp.guard = {
    issuer: issuer.issuer,
    lacks: (token, method) =>
      method === "tools/call" ? { scope: "tools:call" } : lacks(token, ""),
  };
  await newAgent("second");
  let asking = await run("second");
  for (let logins = 0; logins < 3; logins++) {
    expect(asking.status).toBe("waiting");
    await logIn(loginOf(asking));
    asking = await next("second", asking);
  }
  expect(asking.status).toBe("completed");
  expect(JSON.stringify(asking.result?.messages)).toContain("after 3 logins");
});

test("a login ends when a human cancels it or the connection is deleted", async () => {
  await start();
  await newAgent("desk");
  const waiting = await run("desk");
  const page = loginOf(waiting);
  const [request] = waiting.requests;
  const path = `/v1/teams/desk/runs/${waiting.id}/requests/${request?.id}`;
  await json(path, { content: "cancel" });
  const ended = await next("desk", waiting);
  expect(ended).toMatchObject({ status: "failed", error: { type: "mcp_refused" } });
  const { connections } = await json<ConnectionList>("/v1/connections");
  const init = { method: "DELETE", headers: bearer("acme") };
  const gone = await fetch(`${origin}/v1/connections/${connections[0]?.id}`, init);
  expect(gone.status).toBe(204);
  // What was begun for it is over as well.
  await expect(signIn(page)).rejects.toThrow("404");
  const again = await fetch(`${origin}/v1/connections/${connections[0]?.id}`, init);
  expect(again.status).toBe(404);
});
