import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { ask } from "../api/protocols/mcp/support/tasks.ts";
import { conversationsOf, inTurn, runsOf, writer } from "../api/protocols/support/teams.ts";
import { AgentServer } from "../components/a2a/support/agent-server.ts";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { agent } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

/** The services that a run calls, and those that hear of it. */
let outside: EchoServer;
let remote: AgentServer;
let worker: TestWorker;
/** Called when an MCP server gets the call of a tool; the call has no answer before it resolves. */
let onCall: (() => Promise<void>) | undefined;

const NO_ARGUMENTS = { type: "object", properties: {} };

/** What an MCP server of 2025-06-18 answers. */
const MCP: { [method: string]: object } = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "outside", version: "1" },
  },
  "tools/list": { tools: [{ name: "look", inputSchema: NO_ARGUMENTS }] },
  "tools/call": { content: [{ type: "text", text: "looked" }] },
};

const COMPLETION = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o-mini",
  choices: [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

interface McpMessage {
  id?: number;
  method: string;
  params?: { name?: string; requestId?: number; _meta?: JsonObject };
}

beforeAll(async () => {
  outside = await EchoServer.start(async (response, { path, method, body }) => {
    response.setHeader("content-type", "application/json");
    if (path.startsWith("/v1/")) return void response.end(JSON.stringify(COMPLETION));
    if (path !== "/mcp") return void response.end('"ok"');
    if (method !== "POST") return void response.writeHead(405).end();
    const { id, method: called } = JSON.parse(body) as McpMessage;
    if (id === undefined) return void response.writeHead(202).end();
    if (called === "tools/call") await onCall?.();
    const result = MCP[called];
    const error = { code: -32_601, message: "Method not found" };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
  });
  remote = await AgentServer.start(async (about) => {
    about.begin();
    about.status("COMPLETED", "Done.");
  });
  const origin = `http://127.0.0.1:${outside.port}`;
  worker = await TestWorker.start(
    {
      SECRETS_KEY: btoa("k".repeat(32)),
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: `${origin}/v1`,
    },
    { quietAbout: "" },
  );
  await post("/v1/teams", { id: "caller", component: caller() });
  await post("/v1/teams", { id: "last", component: inTurn(agent("writer")) });
  const hook = { url: `${origin}/hook`, events: ["run.completed"] };
  const made = await worker.fetch("/v1/webhooks/hook", jsonInit(hook, "PUT"));
  expect(made.status).toBe(201);
});

beforeEach(() => {
  onCall = undefined;
  outside.requests.length = 0;
  remote.messages.length = 0;
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
  await outside[Symbol.asyncDispose]();
});

async function post<T>(path: string, body: object, headers = {}): Promise<T> {
  const response = await worker.fetch(path, jsonInit(body, "POST", headers));
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text) as T;
}

/** Calls everything that a run can call: tools over HTTP and MCP, a model, an agent of another system. */
function caller(): object {
  const server_params = {
    type: "StreamableHttpServerParams",
    url: `http://127.0.0.1:${outside.port}/mcp`,
  };
  const http = {
    name: "ask",
    scheme: "http",
    host: "127.0.0.1",
    port: outside.port,
    path: "/ask",
    method: "GET",
    json_schema: NO_ARGUMENTS,
  };
  const adapted = { name: "adapted", inputSchema: NO_ARGUMENTS };
  const tools = [
    { provider: "autogen_ext.tools.http.HttpTool", config: http },
    {
      provider: "autogen_ext.tools.mcp.StreamableHttpMcpToolAdapter",
      config: { server_params, tool: adapted },
    },
  ];
  const calls = ["ask", "adapted", "look"];
  const clerk = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      description: "Calls its tools.",
      reflect_on_tool_use: false,
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [
            {
              finish_reason: "function_calls",
              content: calls.map((name) => ({ id: name, name, arguments: "{}" })),
              usage: { prompt_tokens: 1, completion_tokens: 1 },
              cached: false,
            },
          ],
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
      workbench: [
        { provider: "autogen_core.tools.StaticWorkbench", config: { tools } },
        { provider: "autogen_ext.tools.mcp.McpWorkbench", config: { server_params } },
      ],
    },
  };
  const other = {
    provider: "troupe.agents.A2AAgent",
    config: { name: "remote", url: remote.url },
  };
  return inTurn(clerk, writer({ model_client_stream: false }), other);
}

const mcpMessages = (): McpMessage[] =>
  outside.requests
    .filter(({ path, method }) => path === "/mcp" && method === "POST")
    .map(({ body }) => JSON.parse(body) as McpMessage);

/** The header of the requests with a path, and each hop count but once. */
function hopsSent(): { [to: string]: unknown } {
  const headers = (wanted: string): unknown[] =>
    outside.requests
      .filter(({ path }) => path === wanted)
      .map((request) => request.headers["troupe-hops"]);
  const calls = mcpMessages().filter(({ method }) => method === "tools/call");
  return {
    tool: headers("/ask"),
    model: headers("/v1/chat/completions"),
    webhook: headers("/hook"),
    push: [...new Set(headers("/push"))],
    mcp: Object.fromEntries(
      calls.map(({ params }) => [params?.name, params?._meta?.["troupe/hops"]]),
    ),
    a2a: remote.messages.map(({ metadata }) => metadata?.["troupe/hops"]),
  };
}

const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] };
const rpc = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

test("a run that was started over A2A or MCP sends one hop more with all of its requests", async () => {
  const push = { url: `http://127.0.0.1:${outside.port}/push` };
  const configuration = { returnImmediately: true, taskPushNotificationConfig: push };
  const sent = { ...message, metadata: { "troupe/hops": 3 } };
  const headers = { "a2a-version": "1.0" };
  const params = { message: sent, configuration };
  await post("/a2a/teams/caller", rpc("SendMessage", params), headers);
  await expect.poll(hopsSent).toEqual({
    tool: ["4"],
    model: ["4"],
    webhook: ["4"],
    push: ["4"],
    mcp: { look: 4, adapted: 4 },
    a2a: [4],
  });

  outside.requests.length = 0;
  remote.messages.length = 0;
  const given = { name: "run_caller", arguments: { task: "go" }, _meta: { "troupe/hops": 7 } };
  const answered = await ask(worker, "tools/call", given, { capabilities: {} });
  expect(answered.error).toBeUndefined();
  await expect.poll(hopsSent).toEqual({
    tool: ["8"],
    model: ["8"],
    webhook: ["8"],
    push: [],
    mcp: { look: 8, adapted: 8 },
    a2a: [8],
  });
});

const tooMany = { "troupe/hops": 9 };
const one = { "a2a-version": "1.0" };
const legacy = {
  kind: "message",
  messageId: "m",
  role: "user",
  parts: [{ kind: "text", text: "" }],
};
const responses = { model: "team:last", input: "go" };

test.each<[string, () => Promise<unknown>]>([
  [
    "A2A over HTTP+JSON",
    async () =>
      (
        await worker.fetch(
          "/a2a/teams/last/message:send",
          jsonInit({ message: { ...message, metadata: tooMany } }, "POST", one),
        )
      ).text(),
  ],
  [
    "A2A with a stream",
    async () =>
      (
        await worker.fetch(
          "/a2a/teams/last",
          jsonInit(
            rpc("SendStreamingMessage", { message: { ...message, metadata: tooMany } }),
            "POST",
            one,
          ),
        )
      ).text(),
  ],
  [
    "A2A 0.3",
    async () =>
      (
        await worker.fetch(
          "/a2a/teams/last",
          jsonInit(rpc("message/send", { message: { ...legacy, metadata: tooMany } })),
        )
      ).text(),
  ],
  [
    "the header beside A2A's metadata",
    async () =>
      (
        await worker.fetch(
          "/a2a/teams/last",
          jsonInit(
            rpc("SendMessage", { message: { ...message, metadata: { "troupe/hops": 1 } } }),
            "POST",
            { ...one, "troupe-hops": "9" },
          ),
        )
      ).text(),
  ],
  [
    "MCP 2026-07-28",
    () =>
      ask(worker, "tools/call", {
        name: "run_last",
        arguments: { task: "go" },
        _meta: tooMany,
      }),
  ],
  [
    "the Responses of OpenAI",
    async () =>
      (
        await worker.fetch(
          "/openai/v1/responses",
          jsonInit(responses, "POST", { "troupe-hops": "9" }),
        )
      ).text(),
  ],
])(
  "%s: call number 10 of a chain is refused in its own form, and starts nothing",
  async (_, send) => {
    const answered = await send();
    expect(JSON.stringify(answered)).toMatch(/would be number 10/);
    expect(await runsOf(worker, "last")).toEqual([]);
    expect(await conversationsOf(worker, "last")).toEqual([]);
  },
);

test("a run that is stopped cancels its call at an MCP server with a notification", async () => {
  const called = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  onCall = () => {
    called.resolve();
    return stopped.promise;
  };
  const { id } = await post<RunInfo>("/v1/teams/caller/runs", { task: "go" });
  await called.promise;
  const underWay = (): McpMessage[] =>
    mcpMessages().filter(({ method }) => method === "tools/call");
  await expect.poll(() => underWay().length).toBe(2);
  await post(`/v1/teams/caller/runs/${id}/stop`, { mode: "now" });
  await expect
    .poll(() =>
      mcpMessages()
        .filter(({ method }) => method === "notifications/cancelled")
        .map(({ params }) => params?.requestId),
    )
    .toHaveLength(2);
  const cancelled = mcpMessages().flatMap(({ params }) => params?.requestId ?? []);
  expect(new Set(cancelled)).toEqual(new Set(underWay().map((call) => call.id)));
  stopped.resolve();
});
