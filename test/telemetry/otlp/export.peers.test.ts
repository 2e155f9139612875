import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type RunTrace, runTraceSchema } from "#contract/team/trace.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";
import { EchoServer } from "../../support/echo-server.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { TestMcpServer } from "../../components/mcp/support/test-server.ts";
import { FakeSandbox, streamed } from "../../support/fake-sandbox.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { Collector } from "../support/collector.ts";

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE = "0af7651916cd43dd8448eb211c80319c";

let openai: FakeOpenAI;
let tool: EchoServer;
let collector: Collector;
let worker: TestWorker;

const usage = { prompt_tokens: 11, completion_tokens: 2 };

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "done", match: { any: "20 degrees" }, reply: { content: "It is warm.", usage } },
      {
        name: "ask",
        match: { text: "weather" },
        reply: { tool_calls: [{ name: "weather", arguments: {} }], usage },
      },
      { name: "other", reply: { content: "Hello.", usage } },
    ],
  });
  tool = await EchoServer.start((response) => void response.end("20 degrees"));
  collector = await Collector.start();
  worker = await TestWorker.start(settings(collector));
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await collector[Symbol.asyncDispose]();
  await tool[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

function settings({ url }: Collector): Record<string, string> {
  return {
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=a%20secret",
    OTEL_SERVICE_NAME: "our-teams",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
}

/** One agent with a tool over HTTP. */
function assistant(name: string, config: object = {}) {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: name,
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o-mini" },
      },
      tools: [
        {
          provider: "autogen_ext.tools.http.HttpTool",
          config: {
            name: "weather",
            host: "127.0.0.1",
            scheme: "http",
            port: tool.port,
            path: "/weather",
            method: "GET",
            json_schema: { type: "object", properties: {} },
          },
        },
      ],
      reflect_on_tool_use: true,
      ...config,
    },
  };
}

async function created(id: string, component: object, at = worker): Promise<void> {
  const response = await at.fetch("/v1/teams", jsonInit({ id, component }));
  expect(response.status, await response.text()).toBe(201);
}

async function finished(
  id: string,
  { task, at = worker, headers = {} }: { task: string; at?: TestWorker; headers?: object },
): Promise<RunInfo> {
  const init = jsonInit({ task }, "POST", headers as Record<string, string>);
  const response = await at.fetch(`/v1/teams/${id}/runs?wait=60`, init);
  return (await response.json()) as RunInfo;
}

async function traceOf({ team_id, id }: RunInfo, at = worker): Promise<RunTrace> {
  const response = await at.fetch(`/v1/teams/${team_id}/runs/${id}/trace`);
  return runTraceSchema.parse(await response.json());
}

test("the spans that the API shows are sent, by OpenTelemetry's conventions", async () => {
  await created("weather", assistant("clerk"));
  const run = await finished("weather", {
    task: "How is the weather?",
    headers: { traceparent: PARENT, tracestate: "vendor=1" },
  });
  expect(run).toMatchObject({ status: "completed" });
  const trace = await traceOf(run);
  expect(trace.trace_id).toBe(TRACE);
  const sent = () => collector.spans.filter(({ attributes: a }) => a["troupe.run.id"] === run.id);
  await expect.poll(() => sent().length).toBe(trace.spans.length);
  const ids = (spans: { id: string; parent: string | null; name: string }[]) =>
    spans.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const caller = PARENT.split("-")[2]!;
  expect(
    ids(
      sent().map(({ spanId, parentSpanId, name }) => ({ id: spanId, parent: parentSpanId!, name })),
    ),
  ).toEqual(
    ids(
      trace.spans.map(({ span_id, parent_span_id, name }) => {
        return { id: span_id, parent: parent_span_id ?? caller, name };
      }),
    ),
  );
  expect(sent().every(({ traceId }) => traceId === TRACE)).toBe(true);
  const chat = sent().find(({ name }) => name === "chat gpt-4o-mini");
  expect(chat).toMatchObject({
    kind: 3,
    status: { code: 0 },
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-4o-mini",
      "gen_ai.usage.input_tokens": 11,
      "gen_ai.usage.output_tokens": 2,
      "gen_ai.agent.name": "clerk",
      "gen_ai.conversation.id": "weather",
    },
  });
  expect(Object.keys(chat!.attributes).filter((name) => /message|content/.test(name))).toEqual([]);
  const called = sent().find(({ name }) => name === "execute_tool weather");
  expect(called?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "weather",
  });
  expect(collector.resource).toEqual({
    "service.name": "our-teams",
    "deployment.environment.name": "test",
  });
  expect(collector.requests[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "x-collector-key": "a secret",
  });
  for (const span of trace.spans) {
    const same = sent().find(({ spanId }) => spanId === span.span_id);
    expect(same?.startTimeUnixNano).toBe(`${Date.parse(span.started_at)}000000`);
    expect(same?.endTimeUnixNano).toBe(`${Date.parse(span.ended_at!)}000000`);
  }
});

test("requests to models and tools carry the span of their step", async () => {
  await created("carried", assistant("clerk"));
  const before = { models: openai.requests.length, tools: tool.requests.length };
  const run = await finished("carried", {
    task: "How is the weather?",
    headers: { traceparent: PARENT, tracestate: "vendor=1" },
  });
  const trace = await traceOf(run);
  const spans = (kind: string) =>
    trace.spans
      .filter((span) => span.kind === kind)
      .map((span) => `00-${TRACE}-${span.span_id}-01`);
  const models = openai.requests.slice(before.models);
  expect(models.map(({ headers }) => headers["traceparent"])).toEqual(spans("chat"));
  expect(models[0]?.headers["tracestate"]).toBe("vendor=1");
  const tools = tool.requests.slice(before.tools);
  expect(tools.map(({ headers }) => headers["traceparent"])).toEqual(spans("execute_tool"));
});

test("requests to MCP servers and the sandbox carry the span of their step", async () => {
  await using mcp = await TestMcpServer.start();
  await using sandbox = await FakeSandbox.start();
  await using at = await TestWorker.start({ ...settings(collector), SANDBOX_URL: sandbox.url });
  const echo = { id: "1", name: "echo", arguments: '{"text":"hi"}' };
  const calling = { finish_reason: "function_calls", content: [echo], usage, cached: false };
  const model_info = {
    vision: false,
    function_calling: true,
    json_output: false,
    structured_output: false,
    family: "unknown",
  };
  const workbench = {
    provider: "autogen_ext.tools.mcp.McpWorkbench",
    config: { server_params: mcp.params },
  };
  const caller = assistant("caller", {
    model_client: {
      provider: "ReplayChatCompletionClient",
      config: { chat_completions: [calling, "```python\nprint(1)\n```"], model_info },
    },
    tools: null,
    workbench: [workbench],
  });
  const runner = {
    provider: "CodeExecutorAgent",
    config: {
      name: "runner",
      code_executor: { provider: "LocalCommandLineCodeExecutor", config: {} },
    },
  };
  const participants = [caller, runner];
  await created(
    "both",
    { provider: "RoundRobinGroupChat", config: { participants, max_turns: 2 } },
    at,
  );
  sandbox.expectExecute(streamed({ exit_code: 0, output: "1", truncated: false, files: [] }, "1"));
  const headers = { traceparent: PARENT };
  expect(await finished("both", { task: "Go.", at, headers })).toMatchObject({
    status: "completed",
  });
  const run = (await (await at.fetch("/v1/teams/both/runs")).json()) as { runs: RunInfo[] };
  const { spans } = await traceOf(run.runs[0]!, at);
  const idOf = (wanted: string): string =>
    `00-${TRACE}-${spans.find(({ name }) => name === wanted)?.span_id}-01`;
  expect(mcp.headers.map(({ traceparent }) => traceparent)).toContain(idOf("execute_tool echo"));
  expect(sandbox.calls[0]?.headers["traceparent"]).toBe(idOf("execute_code"));
});

test("metrics count runs, tokens and deliveries", async () => {
  await created("measured", assistant("meter"));
  const runs = collector.total("troupe.runs", { "troupe.run.status": "completed" });
  const tokens = { "gen_ai.token.type": "input", "gen_ai.request.model": "gpt-4o-mini" };
  const input = collector.total("gen_ai.client.token.usage", tokens);
  await finished("measured", { task: "Hello." });
  const counted = () => collector.total("troupe.runs", { "troupe.run.status": "completed" }) - runs;
  await expect.poll(counted).toBe(1);
  expect(collector.total("gen_ai.client.token.usage", tokens) - input).toBe(11);
  const durations = collector.points.filter(
    ({ name }) => name === "gen_ai.client.operation.duration",
  );
  expect(durations.length).toBeGreaterThan(0);
  expect(durations.every(({ sum }) => sum >= 0 && sum < 60)).toBe(true);
});

test("contents are sent on request", async () => {
  await using at = await TestWorker.start({
    ...settings(collector),
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
  });
  await created("told", assistant("clerk"), at);
  const run = await finished("told", { task: "How is the weather?", at });
  const chats = () =>
    collector.spans.filter(
      ({ name, attributes: a }) => a["troupe.run.id"] === run.id && name.startsWith("chat"),
    );
  await expect.poll(() => chats().length).toBe(2);
  const [input, output] = ["gen_ai.input.messages", "gen_ai.output.messages"].map((attribute) =>
    chats().map(({ attributes }) => JSON.parse(String(attributes[attribute])) as unknown[]),
  );
  expect(input?.[1]).toEqual([
    { role: "user", parts: [{ type: "text", content: "How is the weather?" }] },
    { role: "assistant", parts: [expect.objectContaining({ type: "tool_call", name: "weather" })] },
    {
      role: "tool",
      parts: [expect.objectContaining({ type: "tool_call_response", response: "20 degrees" })],
    },
  ]);
  expect(output?.[1]).toEqual([
    { role: "assistant", finish_reason: "stop", parts: [{ type: "text", content: "It is warm." }] },
  ]);
});

test("metrics count queued runs and deliveries of webhooks", async () => {
  await using receiver = await EchoServer.start();
  await using own = await Collector.start();
  await using at = await TestWorker.start({ ...settings(own), SECRETS_KEY: btoa("k".repeat(32)) });
  await created("hooked", assistant("clerk"), at);
  const webhook = { url: `http://127.0.0.1:${receiver.port}/`, events: ["run.completed"] };
  const body = { task: "Hello.", on_conflict: "queue", webhook };
  const post = () => at.fetch("/v1/teams/hooked/runs", jsonInit(body));
  const accepted = await Promise.all([post(), post(), post()]);
  expect(accepted.map(({ status }) => status)).toEqual([202, 202, 202]);
  const delivered = { "troupe.webhook.outcome": "delivered" };
  await expect.poll(() => own.total("troupe.webhook.deliveries", delivered)).toBe(3);
  await expect.poll(() => own.total("troupe.runs")).toBe(3);
  const waits = own.points.filter(({ name }) => name === "troupe.queue.wait");
  expect(waits.reduce((count, point) => count + point.count, 0)).toBe(2);
  expect(own.total("troupe.queue.length")).toBe(1 + 2);
});

test("each attempt to deliver is a span of the run, which the receiver's trace joins", async () => {
  await using receiver = await WebhookReceiver.start();
  await using at = await TestWorker.start({
    ...settings(collector),
    SECRETS_KEY: btoa("k".repeat(32)),
  });
  receiver.respond = (response) => {
    response.writeHead(receiver.received.length === 1 ? 500 : 204).end();
  };
  await using silent = await WebhookReceiver.start();
  silent.respond = (response) => void response.destroy();
  const failed = { url: silent.url(), events: ["run.completed"] };
  expect((await at.fetch("/v1/webhooks/silent", jsonInit(failed, "PUT"))).status).toBe(201);
  await created("joined", assistant("clerk"), at);
  const webhook = { url: receiver.url("/hook?key=secret"), events: ["run.completed"] };
  const headers = { traceparent: PARENT, tracestate: "vendor=1" };
  const response = await at.fetch(
    "/v1/teams/joined/runs?wait=60",
    jsonInit({ task: "Hello.", webhook }, "POST", headers),
  );
  const run = (await response.json()) as RunInfo;
  const { spans } = await traceOf(run, at);
  const attempts = () =>
    collector.spans.filter(
      ({ attributes: a }) => a["troupe.run.id"] === run.id && a["troupe.webhook.id"] === "default",
    );
  await expect.poll(() => attempts().length).toBe(2);
  const [first, second] = receiver.received.map((request) => request.headers);
  expect(attempts().map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)).toEqual([
    first?.["traceparent"],
    second?.["traceparent"],
  ]);
  expect(new Set(attempts().map(({ spanId }) => spanId)).size).toBe(2);
  expect(first?.["tracestate"]).toBe("vendor=1");
  expect(
    attempts().map(({ traceId, parentSpanId, kind }) => [traceId, parentSpanId, kind]),
  ).toEqual(Array.from({ length: 2 }, () => [TRACE, spans[0]?.span_id, 3]));
  const common = {
    "http.request.method": "POST",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(receiver.url()).port),
    "gen_ai.conversation.id": "joined",
    "troupe.run.id": run.id,
    "troupe.tenant": "local",
    "troupe.span.kind": "delivery",
    "troupe.webhook.id": "default",
    "troupe.webhook.event": "run.completed",
    "troupe.webhook.delivery": first?.["webhook-id"],
  };
  expect(attempts().map(({ attributes }) => attributes)).toEqual([
    { ...common, "http.response.status_code": 500, "error.type": "500" },
    { ...common, "http.response.status_code": 204, "http.request.resend_count": 1 },
  ]);
  expect(attempts().map(({ name, status }) => [name, status.code])).toEqual([
    ["POST", 2],
    ["POST", 0],
  ]);
  const unanswered = collector.spans.find(
    ({ attributes: a }) => a["troupe.webhook.id"] === "silent",
  );
  expect(unanswered?.attributes).toMatchObject({ "error.type": "no_answer" });
  expect(unanswered?.attributes).not.toHaveProperty("http.response.status_code");
});

test("a caller that does not record the trace decides for the run, too", async () => {
  await created("unsampled", assistant("quiet"));
  const headers = { traceparent: PARENT.replace(/01$/, "00") };
  const before = openai.requests.length;
  const run = await finished("unsampled", { task: "Hello.", headers });
  const sampled = await finished("unsampled", { task: "Hello." });
  const isOf = (id: string) =>
    collector.spans.some(({ attributes: a }) => a["troupe.run.id"] === id);
  await expect.poll(() => isOf(sampled.id)).toBe(true);
  expect(isOf(run.id)).toBe(false);
  expect(openai.requests[before]?.headers["traceparent"]).toMatch(
    new RegExp(`^00-${TRACE}-.*-00$`),
  );
  // The API shows it all the same.
  expect((await traceOf(run)).spans.length).toBeGreaterThan(3);
});

test("the caller's trace is passed on unchanged without a collector, and none is invented", async () => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...others } = settings(collector);
  await using receiver = await WebhookReceiver.start();
  await using plain = await TestWorker.start({ ...others, SECRETS_KEY: btoa("k".repeat(32)) });
  const hook = { url: receiver.url(), events: ["run.completed"] };
  expect((await plain.fetch("/v1/webhooks/hook", jsonInit(hook, "PUT"))).status).toBe(201);
  await created("plain", assistant("clerk"), plain);
  const before = openai.requests.length;
  await finished("plain", { task: "Hello.", at: plain, headers: { traceparent: PARENT } });
  await finished("plain", { task: "Hello.", at: plain, headers: { traceparent: "00-nonsense" } });
  const models = openai.requests.slice(before);
  expect(models.map(({ headers }) => headers["traceparent"])).toEqual([PARENT, undefined]);
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received.map(({ headers }) => headers["traceparent"])).toEqual([
    PARENT,
    undefined,
  ]);
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "no pair"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "soon"],
  ["OTEL_TRACES_SAMPLER_ARG", "2"],
  ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "some"],
])("%s=%s is refused", async (name, value) => {
  await using broken = await TestWorker.start(
    { ...settings(collector), [name]: value },
    { quietAbout: name },
  );
  expect(await (await broken.fetch("/healthz")).json()).toMatchObject({ code: "not_configured" });
});

describe("a collector", () => {
  test.each([
    ["broken", 500, "the collector answered 500"],
    ["slow", new Promise<number>(() => undefined), "the collector took longer than 300 ms"],
  ])("that is %s delays nothing, and dropped spans are counted", async (name, answer, reason) => {
    await using away = await Collector.start();
    away.answer = answer;
    const lines: string[] = [];
    await using at = await TestWorker.start(
      { ...settings(away), OTEL_EXPORTER_OTLP_TIMEOUT: "300" },
      { logs: (line) => lines.push(line) },
    );
    await created(name, assistant("clerk"), at);
    const run = await finished(name, { task: "Hello.", at });
    expect(run).toMatchObject({ status: "completed" });
    const dropped = () => lines.filter((line) => line.includes("telemetry_dropped"));
    await expect.poll(() => dropped().length).toBeGreaterThan(0);
    const { spans } = await traceOf(run, at);
    expect(JSON.parse(dropped()[0]!)).toEqual({
      event: "telemetry_dropped",
      team: name,
      spans: spans.length,
      reason,
    });
    // Told once the collector is there again.
    away.answer = 200;
    await finished(name, { task: "Hello.", at });
    await expect.poll(() => away.total("troupe.telemetry.dropped_spans")).toBe(spans.length);
  });

  test("that is away delays nothing", async () => {
    const gone = await Collector.start();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const lines: string[] = [];
    await using at = await TestWorker.start(settings({ url } as Collector), {
      logs: (line) => lines.push(line),
    });
    await created("gone", assistant("clerk"), at);
    expect(await finished("gone", { task: "Hello.", at })).toMatchObject({ status: "completed" });
    await expect
      .poll(() => lines.find((line) => line.includes("telemetry_dropped")))
      .toContain("the collector cannot be reached");
  });
});
