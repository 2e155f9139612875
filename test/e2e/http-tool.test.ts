import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { humanRequestsSchema } from "#contract/run.ts";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;
let server: EchoServer;

beforeAll(async () => {
  server = await EchoServer.start((response, { headers }) => {
    response.end("x-repeated" in headers ? repeated(headers) : "20 degrees");
  });
  worker = await TestWorker.start({
    WEATHER_TOKEN: "the-token",
    SECRET_HOSTS: JSON.stringify({ WEATHER_TOKEN: [`127.0.0.1:${server.port}`] }),
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const tool = (config: object) => ({
  provider: "autogen_ext.tools.http.HttpTool",
  config: {
    name: "weather",
    host: "127.0.0.1",
    port: server.port,
    path: "/weather/{city}",
    headers: { authorization: "Bearer env:WEATHER_TOKEN", "x-own": "written-out" },
    json_schema: {
      type: "object",
      properties: { city: { type: "string" }, unit: { type: "string" } },
      required: ["city"],
    },
    ...config,
  },
});

/** An agent that asks about the weather in Ürümqi and says what the tool says. */
const agent = (config: object, args = '{"city":"Ürümqi","unit":"C"}') => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "天气",
    description: "Knows the weather.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{is_error}: {result}",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: [
          {
            finish_reason: "function_calls",
            content: [{ id: "c", name: "weather", arguments: args }],
            usage: { prompt_tokens: 1, completion_tokens: 1 },
            cached: false,
          },
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
    workbench: [
      { provider: "autogen_core.tools.StaticWorkbench", config: { tools: [tool(config)] } },
    ],
  },
});

/** What a server was sent, in other forms. */
function repeated({
  authorization = "",
  ...headers
}: EchoServer["requests"][0]["headers"]): string {
  const own = String(headers["x-own"]);
  return [
    JSON.stringify({ own }),
    encodeURIComponent(own),
    Buffer.from(`user:${own}`).toString("base64"),
    Buffer.from(authorization.slice("Basic ".length), "base64").toString(),
    String(headers["x-token"]).slice("Bearer ".length),
  ].join(" | ");
}

async function start(id: string, config: object, args?: string): Promise<RunInfo> {
  const component = {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: { participants: [agent(config, args)], max_turns: 1 },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  expect(created.status).toBe(201);
  const path = `/v1/teams/${id}/runs?wait=60`;
  return (await (await worker.fetch(path, jsonInit({ task: "Weather?" }))).json()) as RunInfo;
}

async function ask(id: string, config: object): Promise<unknown> {
  const run = await start(id, config);
  expect(run).toMatchObject({ status: "completed" });
  const last = run.result?.messages?.at(-1);
  return last !== undefined && "content" in last ? last.content : undefined;
}

test("a team calls a server, with the secret that is allowed there", async () => {
  expect(await ask("weather", {})).toBe("False: 20 degrees");
  expect(server.requests).toHaveLength(1);
  const [{ method, path, headers, body }] = server.requests as [EchoServer["requests"][0]];
  expect({ method, path, body }).toEqual({
    method: "POST",
    path: "/weather/%C3%9Cr%C3%BCmqi",
    body: '{"unit":"C"}',
  });
  expect(headers).toMatchObject({ authorization: "Bearer the-token", "x-own": "written-out" });
  expect(headers["idempotency-key"]).toMatch(/tool:0:0\/call$/);
  const stored = await (await worker.fetch("/v1/teams/weather")).text();
  expect(stored).toContain("env:WEATHER_TOKEN");
  expect(stored).not.toContain("written-out");
});

test("a server that repeats secrets in another form reveals none to the model", async () => {
  const pair = Buffer.from("anna:pass word&1").toString("base64");
  const secret = 'own/"secret" one';
  const headers = {
    "x-token": "Bearer env:WEATHER_TOKEN",
    authorization: `Basic ${pair}`,
    "x-own": secret,
    "x-repeated": "yes",
  };
  const said = await ask("echoing", { headers });
  expect(said).toBe(
    'False: {"own":"[redacted]"} | [redacted] | dXNlcjp[redacted] | [redacted] | [redacted]',
  );
});

test("a host for which a secret is not allowed gets no request", async () => {
  const before = server.requests.length;
  expect(await ask("elsewhere", { host: "localhost" })).toMatch(/^True: .*may not be sent to/);
  expect(server.requests).toHaveLength(before);
});

test("a private address gets no request, and the model reads the reason", async () => {
  const config = { host: "169.254.169.254", port: 80, headers: null };
  expect(await ask("private", config)).toMatch(/^True: .*private address/);
});

test("a human is asked over HTTP, and changes the request", async () => {
  const before = server.requests.length;
  const run = await start("asked", { approval: "human" });
  expect(run).toMatchObject({ status: "waiting" });
  const path = `/v1/teams/asked/runs/${run.id}`;
  const open = humanRequestsSchema.parse(await (await worker.fetch(`${path}/requests`)).json());
  const [request] = open.requests;
  expect(request).toMatchObject({
    kind: "approval",
    source: "天气",
    tool_call: { name: "weather", arguments: { city: "Ürümqi", unit: "C" }, call_id: "c" },
  });
  const answer = (given: object) =>
    worker.fetch(`${path}/requests/${request?.id}`, jsonInit({ approved: true, arguments: given }));
  const refused = await answer({ unit: "F" });
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({
    code: "invalid_answer",
    errors: [{ path: "arguments.city", message: "missing" }],
  });
  expect((await answer({ city: "Oslo" })).status).toBe(200);
  expect((await answer({ city: "Oslo" })).status).toBe(200);
  expect((await answer({ city: "Rome" })).status).toBe(409);
  // The stream ends with the run.
  expect(await (await worker.fetch(`${path}/events`)).text()).toContain("A human changed");
  expect(server.requests.slice(before)).toMatchObject([{ path: "/weather/Oslo", body: "{}" }]);
});

test.each<[string, string, string]>([
  ["a number", "9007199254740995", "[9007199254740995,1e20]"],
  ["a text", '"9007199254740995"', "[9007199254740995,1e20]"],
  ["the power of two", "9007199254740992", "[9007199254740992,1e20]"],
])("a human gives an integer beyond 2^53 as %s", async (name, written, sent) => {
  const ids = { type: "array", items: { type: "number" } };
  const json_schema = { type: "object", properties: { ids } };
  const config = { path: "/pay", approval: "human", json_schema };
  const id = `pay-${name.replaceAll(" ", "-")}`;
  const run = await start(id, config, '{"ids":[9007199254740993]}');
  expect(run.requests[0]?.tool_call?.arguments).toEqual({ ids: ["9007199254740993"] });
  const answered = await worker.fetch(
    `/v1/teams/${id}/runs/${run.id}/requests/${run.requests[0]?.id}`,
    {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"approved":true,"arguments":{"ids":[${written},1e20]}}`,
    },
  );
  expect(answered.status).toBe(200);
  await (await worker.fetch(`/v1/teams/${id}/runs/${run.id}/events`)).text();
  expect(server.requests.at(-1)?.body).toBe(
    `{"ids":${sent.replace("1e20", "100000000000000000000")}}`,
  );
});

test("the tool is listed and validated", async () => {
  const { components } = (await (await worker.fetch("/v1/components")).json()) as {
    components: { provider: string }[];
  };
  expect(components.map(({ provider }) => provider)).toContain(tool({}).provider);
  const component = agent({ path: "/{town}" });
  const refused = await worker.fetch("/v1/components/validate", jsonInit({ component }));
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain("config.tools[0].config.path");
});
