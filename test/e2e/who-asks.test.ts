// Tools know for whom a run is: headers of HTTP tools and MCP servers, after kill -9, in inner agents, and per session.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import type { RunInfo } from "#contract/run.ts";
import type { UsageReport } from "#contract/usage/usage-report.ts";
import { sha256Hex } from "#core/hash.ts";
import { TestMcpServer } from "../components/mcp/support/test-server.ts";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { PATIENCE } from "../support/patience.ts";

const KEY = "acme-secret";

let worker: KillableWorker;
let server: EchoServer;
/** The receiver of webhooks and of spans. */
let receiver: EchoServer;
let mcpServers: Record<"sessions" | "modern" | "sse", TestMcpServer>;
/** Called once, instead of an answer of the server. */
let atNextRequest: (() => void) | undefined;

beforeAll(async () => {
  server = await EchoServer.start((response) => {
    const called = atNextRequest;
    atNextRequest = undefined;
    if (called === undefined) response.end("one order");
    else called();
  });
  receiver = await EchoServer.start();
  mcpServers = {
    sessions: await TestMcpServer.start("sessions"),
    modern: await TestMcpServer.start("modern"),
    sse: await TestMcpServer.start("sse"),
  };
  worker = await KillableWorker.start({
    TROUPE_OPEN: "",
    ALLOWED_EGRESS: [
      `http://127.0.0.1:${server.port}`,
      `http://127.0.0.1:${receiver.port}`,
      ...Object.values(mcpServers).map(({ url }) => new URL(url).origin),
    ].join(","),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.port}/otlp`,
    SECRETS_KEY: btoa("k".repeat(32)),
    // Nothing runs there: components are only checked.
    SANDBOX_URL: "https://sandbox.example.com",
    SANDBOX_KEY: "k".repeat(32),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(KEY), tenant: "acme", name: "shop", scopes: SCOPES },
    ]),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  for (const mcp of Object.values(mcpServers)) await mcp[Symbol.asyncDispose]();
});

async function ask<T>(path: string, body?: unknown, key = KEY): Promise<T & { http: number }> {
  const headers = { authorization: `Bearer ${key}` };
  const init = body === undefined ? { headers } : jsonInit(body, "POST", headers);
  const response = await worker.fetch(path, init);
  return { ...((await response.json()) as T), http: response.status };
}

async function ended(team: string, body: object, key = KEY): Promise<RunInfo> {
  const run = await ask<RunInfo>(`/v1/teams/${team}/runs`, { task: "go", ...body }, key);
  expect(run.http, JSON.stringify(run)).toBe(202);
  return until(run);
}

async function until({ id, team_id }: RunInfo): Promise<RunInfo> {
  let run: RunInfo | undefined;
  await expect
    .poll(async () => (run = await ask<RunInfo>(`/v1/teams/${team_id}/runs/${id}`)).status)
    .toBe("completed");
  return run as RunInfo;
}

const agent = (name: string, parts: object, answers: (string | object)[]) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: "Knows the orders.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: answers,
        cycle: true,
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          structured_output: false,
          family: "unknown",
        },
      },
    },
    ...parts,
  },
});

const calls = (name: string, args: object) => ({
  finish_reason: "function_calls",
  content: [{ id: "c", name, arguments: JSON.stringify(args) }],
  usage: { prompt_tokens: 10, completion_tokens: 1 },
  cached: false,
});

const HEADERS = {
  "x-user": "context:user",
  "x-subject": "context:subject",
  "x-tenant": "context:tenant",
  "x-team": "context:team",
  "x-run": "context:run",
  "x-order": "context:metadata.order.id",
  "x-list": "context:metadata.list",
  "x-none": "context:metadata.toString",
};

const httpTool = (headers: object) => ({
  provider: "autogen_ext.tools.http.HttpTool",
  config: {
    name: "orders",
    host: "127.0.0.1",
    port: server.port,
    path: "/orders",
    method: "GET",
    headers,
    json_schema: { type: "object", properties: {} },
  },
});

const clerk = (headers: object) =>
  agent("clerk", { tools: [httpTool(headers)] }, [calls("orders", {})]);

/** An agent that has the clerk as its tool. */
const desk = (headers: object) => {
  const tool = {
    provider: "autogen_agentchat.tools.AgentTool",
    config: { agent: clerk(headers) },
  };
  return agent("desk", { tools: [tool] }, [calls("clerk", { task: "My orders?" })]);
};

/** The headers of the last request that begin with `x-`. */
function sent(): Record<string, unknown> {
  const { headers = {} } = server.requests.at(-1) ?? {};
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-")));
}

describe("the context of a run", () => {
  test.each([
    ["clerk", clerk],
    ["desk", desk],
  ])("is in the headers of an HTTP tool, after kill -9 as before (%s)", async (id, component) => {
    expect(await ask("/v1/teams", { id, component: component(HEADERS) })).toMatchObject({
      http: 201,
    });
    const gone = new Promise<void>((resolve) => (atNextRequest = resolve));
    const asker = {
      user: "Jürgen 100%",
      metadata: { "order.id": 4711, list: ["a b"], secret: "env:SECRETS_KEY" },
    };
    const run = await ask<RunInfo>(`/v1/teams/${id}/runs`, { task: "go", ...asker });
    await gone;
    const before = sent();
    await worker.kill();
    await worker.restart();
    expect(await until(run)).toMatchObject({ user: "Jürgen 100%", subject: "shop" });
    expect(before).toEqual({
      "x-user": "J%C3%BCrgen%20100%25",
      "x-subject": "shop",
      "x-tenant": "acme",
      "x-team": id,
      "x-run": run.id,
      "x-order": "4711",
      "x-list": '["a%20b"]',
    });
    expect(sent()).toEqual(before);

    // A user is not a reference to a secret, and a token's user is the one that it was made for.
    await ended(id, { user: "env:SECRETS_KEY" });
    expect(sent()).toMatchObject({ "x-user": "env:SECRETS_KEY" });
    await ended(id, {});
    expect(sent()).not.toHaveProperty("x-user");
    const made = { scopes: ["runs:write", "runs:read"], user: "ada", expires_in: 60 };
    const { token } = await ask<{ token: string }>(`/v1/teams/${id}/tokens`, made);
    await ended(id, {}, token);
    expect(sent()).toMatchObject({ "x-user": "ada" });
    expect(sent()).not.toHaveProperty("x-subject");
    const stranger = await ask(`/v1/teams/${id}/runs`, { task: "go", user: "bob" }, token);
    expect(stranger).toMatchObject({ http: 403, code: "user_mismatch" });
  });

  test("is shown in lists, and usage has a row for each user", async () => {
    await ask("/v1/teams", { id: "counted", component: clerk({}) });
    for (const user of ["ada", "bob", "ada", undefined]) {
      await ended("counted", { ...(user !== undefined && { user }) });
    }
    // The lists of a tenant have a run a moment after it ends.
    const listed = () => ask<{ runs: RunInfo[] }>("/v1/runs?team=counted&status=completed");
    await expect.poll(async () => (await listed()).runs.length, PATIENCE).toBe(4);
    const { runs } = await listed();
    expect(runs.map(({ user }) => user ?? "nobody").toSorted()).toEqual([
      "ada",
      "ada",
      "bob",
      "nobody",
    ]);
    expect(runs.every(({ subject }) => subject === "shop")).toBe(true);
    const { usage } = await ask<UsageReport>("/v1/usage?by=team,user");
    const rows = usage.filter(({ team }) => team === "counted");
    expect(
      rows.map(({ user, runs: count, prompt_tokens }) => [user, count, prompt_tokens]),
    ).toEqual(
      expect.arrayContaining([
        ["ada", 2, 20],
        ["bob", 1, 10],
        [undefined, 1, 10],
      ]),
    );
    expect(rows).toHaveLength(3);
  });

  test("is in webhooks and in spans", async () => {
    await ask("/v1/teams", { id: "reported", component: clerk({}) });
    const hook = { url: `http://127.0.0.1:${receiver.port}/hook`, events: ["run.completed"] };
    const { id } = await ended("reported", { user: "eve", webhook: hook });
    const bodies = (path: string): string[] =>
      receiver.requests.filter((request) => request.path === path).map(({ body }) => body);
    await expect.poll(() => bodies("/hook")).toHaveLength(1);
    expect(JSON.parse(bodies("/hook")[0] ?? "")).toMatchObject({
      data: { id, user: "eve", subject: "shop" },
    });
    const attribute = '{"key":"user.id","value":{"stringValue":"eve"}}';
    await expect.poll(() => bodies("/otlp/v1/traces").join("")).toContain(attribute);
  });

  test.each(["sessions", "modern", "sse"] as const)(
    "is in the headers of an MCP server, whose sessions serve one user each (%s)",
    async (kind) => {
      const mcp = mcpServers[kind];
      const workbench = (headers: object) => ({
        provider: "autogen_ext.tools.mcp.McpWorkbench",
        config: { server_params: { ...mcp.params, headers } },
      });
      const headers = { "x-user": "context:user" };
      const component = agent("clerk", { workbench: [workbench(headers)] }, [
        calls("echo", { text: "hi" }),
      ]);
      await ask("/v1/teams", { id: `mcp-${kind}`, component });
      const users = ["ada", "bob", "ada", undefined];
      const sessions: unknown[] = [];
      for (const user of users) {
        mcp.headers.length = 0;
        await ended(`mcp-${kind}`, { ...(user !== undefined && { user }) });
        expect(new Set(mcp.headers.map((seen) => seen["x-user"]))).toEqual(new Set([user]));
        sessions.push(mcp.headers.findLast((seen) => seen["mcp-session-id"])?.["mcp-session-id"]);
      }
      if (kind !== "sessions") return;
      const [ada, bob, again, nobody] = sessions;
      expect(again).toBe(ada);
      expect(new Set([ada, bob, nobody]).size).toBe(3);
    },
  );

  test("refuses headers with parts that a run never has, and a program's environment", async () => {
    const url = "http://127.0.0.1:9/mcp";
    const http = (headers: object) => ({ type: "StreamableHttpServerParams", url, headers });
    const stdio = { type: "StdioServerParams", command: "x", env: { USER: "context:user" } };
    const mcp = (server_params: object) => ({
      provider: "autogen_ext.tools.mcp.McpWorkbench",
      config: { server_params },
    });
    const adapter = (server_params: object) => ({
      provider: "autogen_ext.tools.mcp.StreamableHttpMcpToolAdapter",
      config: { server_params, tool: { name: "t", inputSchema: { type: "object" } } },
    });
    const wrong = { "x-color": "context:color" };
    const allowed =
      "context:user, context:subject, context:tenant, context:team, context:run and context:metadata.KEY";
    for (const [parts, path, message] of [
      [{ tools: [httpTool(wrong)] }, "headers.x-color", allowed],
      [{ workbench: [mcp(http(wrong))] }, "server_params.headers.x-color", allowed],
      [{ tools: [adapter(http(wrong))] }, "server_params.headers.x-color", allowed],
      [{ tools: [httpTool({ "x-m": "context:metadata." })] }, "headers.x-m", allowed],
      [{ workbench: [mcp(stdio)] }, "server_params.env.USER", "StreamableHttpServerParams"],
    ] as const) {
      const component = agent("clerk", parts, []);
      const answer = await ask<{ errors: object[] }>("/v1/teams", { component });
      expect(answer).toMatchObject({ http: 422 });
      expect(answer.errors).toContainEqual(
        expect.objectContaining({
          path: expect.stringMatching(new RegExp(`config\\.${path}$`)),
          message: expect.stringContaining(message),
        }),
      );
    }
  });

  test("has metadata of at most 4,096 bytes where headers take parts of it", async () => {
    await ask("/v1/teams", { id: "of-metadata", component: desk(HEADERS) });
    await ask("/v1/teams", { id: "of-user", component: desk({ "x-user": "context:user" }) });
    const start = (team: string, size: number) =>
      ask<RunInfo>(`/v1/teams/${team}/runs`, {
        task: "go",
        on_conflict: "queue",
        metadata: { long: "x".repeat(size - '{"long":""}'.length) },
      });
    expect(await start("of-metadata", 4_096)).toMatchObject({ http: 202 });
    expect(await start("of-metadata", 4_097)).toMatchObject({
      http: 422,
      errors: [{ path: "metadata", message: expect.stringContaining("context:metadata.KEY") }],
    });
    expect(await start("of-user", 16_000)).toMatchObject({ http: 202 });
  });
});
