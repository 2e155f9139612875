import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { conversationsOf, inTurn, runsOf } from "../api/protocols/support/teams.ts";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { agent } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

type Server = Pick<TestWorker, "fetch">;

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({}, { quietAbout: "" });
});

afterAll(() => worker[Symbol.asyncDispose]());

const remote = (url: string): object => ({
  provider: "troupe.agents.A2AAgent",
  config: { name: "remote", url },
});

async function create(server: Server, id: string, component: object): Promise<void> {
  const response = await server.fetch("/v1/teams", jsonInit({ id, component }));
  expect(response.status, await response.text()).toBe(201);
}

async function start(
  server: Server,
  id: string,
  headers: Record<string, string> = {},
  body: object = {},
): Promise<string> {
  const init = jsonInit({ task: "go", ...body }, "POST", headers);
  const response = await server.fetch(`/v1/teams/${id}/runs`, init);
  const run = (await response.json()) as RunInfo;
  expect(response.status, JSON.stringify(run)).toBe(202);
  return `/v1/teams/${id}/runs/${run.id}`;
}

async function runAt(server: Server, path: string): Promise<RunInfo> {
  return (await (await server.fetch(path)).json()) as RunInfo;
}

const statusesIn = async (team: string): Promise<string[]> => {
  const conversations = await conversationsOf(worker, team);
  const runs = await Promise.all(conversations.map(({ id }) => runsOf(worker, id)));
  return runs.flat().map(({ status }) => status);
};

test("a team that calls itself over A2A ends after 8 hops, and says why", async () => {
  await create(worker, "circle", inTurn(remote(`${await worker.origin}/a2a/teams/circle`)));
  const path = await start(worker, "circle");
  await expect
    .poll(async () => (await runAt(worker, path)).status, { timeout: 30_000 })
    .toBe("failed");
  expect((await runAt(worker, path)).error?.message).toMatch(/would be number 10 in a chain/);
  expect(await statusesIn("circle")).toEqual(Array.from({ length: 8 }, () => "failed"));
});

/** An agent whose answer takes a while. */
function slowly(chunk_delay_ms: number): object {
  const slow = agent("slow") as { config: { model_client: { config: object } } };
  Object.assign(slow.config.model_client.config, { chunk_delay_ms });
  return Object.assign(slow, { config: { ...slow.config, model_client_stream: true } });
}

test("all runs of a team that calls itself stop when the first one is stopped, and none begin", async () => {
  const itself = remote(`${await worker.origin}/a2a/teams/growing`);
  await create(worker, "growing", inTurn(slowly(1000), itself));
  const path = await start(worker, "growing");
  await expect
    .poll(async () => (await statusesIn("growing")).length, { timeout: 30_000 })
    .toBeGreaterThan(1);
  await worker.fetch(`${path}/stop`, jsonInit({ mode: "now" }));
  // A chain that grows further ends with a failure of the last run, 8 hops later.
  await expect
    .poll(async () => new Set(await statusesIn("growing")), { timeout: 30_000 })
    .toEqual(new Set(["cancelled"]));
  expect((await runAt(worker, path)).status).toBe("cancelled");
});

test("all runs of a chain stop when the first one is stopped", async () => {
  const at = async (id: string): Promise<object> =>
    inTurn(remote(`${await worker.origin}/a2a/teams/${id}`));
  await create(worker, "third", inTurn(slowly(10_000)));
  await create(worker, "second", await at("third"));
  await create(worker, "first", await at("second"));
  const path = await start(worker, "first");
  await expect.poll(() => statusesIn("third")).toEqual(["running"]);
  await worker.fetch(`${path}/stop`, jsonInit({ mode: "now" }));
  await expect.poll(() => statusesIn("second")).toEqual(["cancelled"]);
  await expect.poll(() => statusesIn("third")).toEqual(["cancelled"]);
});

test("a run that is stopped while its message is under way cancels the task that begins", async () => {
  const began = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const methods: string[] = [];
  await using server: EchoServer = await EchoServer.start(async (response, { method, body }) => {
    response.setHeader("content-type", "application/json");
    const url = `http://127.0.0.1:${server.port}/`;
    if (method === "GET") {
      const offer = { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" };
      return void response.end(JSON.stringify({ supportedInterfaces: [offer] }));
    }
    const call = JSON.parse(body) as { method: string; params: JsonObject };
    methods.push(`${call.method} ${JSON.stringify(call.params["id"] ?? null)}`);
    if (call.method === "SendMessage") {
      began.resolve();
      await stopped.promise;
    }
    const task = { id: "remote-1", status: { state: "TASK_STATE_WORKING" } };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { task } }));
  });
  await create(worker, "hasty", inTurn(remote(`http://127.0.0.1:${server.port}/`)));
  const path = await start(worker, "hasty");
  await began.promise;
  await worker.fetch(`${path}/stop`, jsonInit({ mode: "now" }));
  stopped.resolve();
  await expect.poll(() => methods).toEqual(["SendMessage null", 'CancelTask "remote-1"']);
});

const usage = { prompt_tokens: 1, completion_tokens: 1 };
const model_info = {
  vision: false,
  function_calling: true,
  json_output: false,
  structured_output: false,
  family: "unknown",
};

/** An agent that asks a server on this machine. */
const asking = (port: number): object => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "clerk",
    description: "Asks.",
    reflect_on_tool_use: false,
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: Array.from({ length: 4 }, () => ({
          finish_reason: "function_calls",
          content: [{ id: "c", name: "ask", arguments: "{}" }],
          usage,
          cached: false,
        })),
        model_info,
      },
    },
    workbench: [
      {
        provider: "autogen_core.tools.StaticWorkbench",
        config: {
          tools: [
            {
              provider: "autogen_ext.tools.http.HttpTool",
              config: {
                name: "ask",
                scheme: "http",
                host: "127.0.0.1",
                port,
                path: "/ask",
                method: "GET",
                json_schema: { type: "object", properties: {} },
              },
            },
          ],
        },
      },
    ],
  },
});

test("HTTP tools and webhooks send the hop count, which survives a queue, kill -9 and a retry", async () => {
  let silent = true;
  await using server = await EchoServer.start((response, { path }) => {
    if (path === "/ask" && silent) return;
    response.end("ok");
  });
  const hopsAt = (path: string): unknown[] =>
    server.requests.filter((one) => one.path === path).map((one) => one.headers["troupe-hops"]);
  const url = `http://127.0.0.1:${server.port}/hook`;
  await using killable = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  await create(killable, "asking", inTurn(asking(server.port)));
  const webhook = { url, events: ["run.completed"] };
  const first = await start(killable, "asking", { "troupe-hops": "3" });
  const queued = await start(
    killable,
    "asking",
    { "troupe-hops": "5" },
    { webhook, on_conflict: "queue" },
  );
  await expect.poll(() => hopsAt("/ask")).toEqual(["4"]);
  await killable.kill();
  silent = false;
  await killable.restart();
  await expect.poll(async () => (await runAt(killable, first)).status).toBe("completed");
  await expect.poll(async () => (await runAt(killable, queued)).status).toBe("completed");
  expect(hopsAt("/ask").slice(0, 3)).toEqual(["4", "4", "6"]);
  await expect.poll(() => hopsAt("/hook")).toEqual(["6"]);

  silent = true;
  server.requests.length = 0;
  const stopped = await start(killable, "asking", { "troupe-hops": "7" });
  await expect.poll(() => hopsAt("/ask")).toEqual(["8"]);
  await killable.fetch(`${stopped}/stop`, jsonInit({ mode: "now" }));
  silent = false;
  const retry = await killable.fetch(`${stopped}/retry`, jsonInit({}));
  expect(retry.status, await retry.text()).toBe(202);
  await expect.poll(() => hopsAt("/ask")).toEqual(["8", "8"]);
});

test("every protocol refuses a run after 8 hops, and an invalid hop count", async () => {
  await create(worker, "last", inTurn(agent("writer")));
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] };
  const ui = { id: "m", role: "user", parts: [{ type: "text", text: "go" }] };
  const http: [path: string, body: object][] = [
    ["/v1/teams/last/runs", { task: "go" }],
    ["/openai/v1/chat/completions", { model: "last", messages: [{ role: "user", content: "go" }] }],
    [
      "/ag-ui/teams/last",
      {
        threadId: "t",
        runId: "r",
        state: {},
        messages: [{ id: "m", role: "user", content: "go" }],
        tools: [],
        context: [],
        forwardedProps: {},
      },
    ],
    ["/ai-sdk/teams/last/chat", { id: "c", messages: [ui], trigger: "submit-message" }],
  ];
  for (const [path, body] of http) {
    for (const [hops, code] of [
      ["9", "too_many_hops"],
      ["99999999999999999999999", "too_many_hops"],
      ["9".repeat(400), "too_many_hops"],
      ["-1", "invalid_hops"],
      ["1.5", "invalid_hops"],
      ["many", "invalid_hops"],
    ] as const) {
      const answer = await worker.fetch(path, jsonInit(body, "POST", { "troupe-hops": hops }));
      const text = await answer.text();
      expect([answer.status, text], `${path} ${hops}`).toEqual([
        path.startsWith("/openai") ? 400 : 422,
        expect.stringContaining(code),
      ]);
      expect(text).not.toContain('"hops":null');
    }
  }
  const call = (method: string, params: object): object => ({
    jsonrpc: "2.0",
    id: 1,
    method,
    params,
  });
  for (const [hops, said] of [
    [9, /would be number 10/],
    [-1, /whole number/],
    ["x", /whole number/],
    [null, /whole number/],
  ] as const) {
    const metadata = { "troupe/hops": hops };
    const a2a = await worker.fetch(
      "/a2a/teams/last",
      jsonInit(call("SendMessage", { message: { ...message, metadata } }), "POST", {
        "a2a-version": "1.0",
      }),
    );
    expect(await a2a.json()).toMatchObject({ error: { message: expect.stringMatching(said) } });
    const params = { name: "run_last", arguments: { task: "go" }, _meta: metadata };
    const mcp = await worker.fetch(
      "/mcp",
      jsonInit(call("tools/call", params), "POST", {
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-03-26",
      }),
    );
    expect(await mcp.text()).toMatch(said);
  }
  expect(await statusesIn("last")).toEqual([]);
  expect(await runsOf(worker, "last")).toEqual([]);
});
