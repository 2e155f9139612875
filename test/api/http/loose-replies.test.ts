import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

// Servers with OpenAI's API that leave out what OpenAI's own always says.

let worker: TestWorker;
let answer: (stream: boolean) => string;
let requests: { messages?: unknown[]; input?: unknown[] }[] = [];

const server = createServer((request, response) => void reply(request, response));

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString()) as (typeof requests)[number] & {
    stream?: boolean;
  };
  requests.push(body);
  const stream = body.stream === true;
  response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
  response.end(answer(stream));
}

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  requests = [];
});

const events = (...chunks: object[]): string =>
  `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;

/** An answer of chat completions: whole, or in these parts and without a finish reason. */
const completion =
  (message: object, ...deltas: object[]) =>
  (stream: boolean): string =>
    stream
      ? events(...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })))
      : JSON.stringify({ choices: [{ index: 0, message }] });

/** The template's tool, which the server has registered. */
const calculator = {
  provider: "FunctionTool",
  config: { name: "calculator", description: "", source_code: "", global_imports: [] },
};

async function run(stream: boolean, config: object = {}, client: object = {}): Promise<RunInfo> {
  const { port } = server.address() as AddressInfo;
  const component = {
    provider: "AssistantAgent",
    config: {
      name: "helper",
      description: "",
      model_client_stream: stream,
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: {
          model: "gpt-4o",
          base_url: `http://127.0.0.1:${port}/v1`,
          api_key: "k",
          ...client,
        },
      },
      ...config,
    },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  expect(created.status, await created.clone().text()).toBe(201);
  const { id } = (await created.json()) as { id: string };
  const init = jsonInit({ task: "Say it." });
  const response = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, init);
  return (await response.json()) as RunInfo;
}

const said = ({ result }: RunInfo) =>
  result?.messages.map((message) => ("content" in message ? message.content : "")).at(-1);

describe.each([false, true])("replies, streamed: %s", (stream) => {
  test("a reply without a finish reason is requested once", async () => {
    answer = completion({ content: "All of it." }, { content: "All " }, { content: "of it." });
    expect(said(await run(stream))).toBe("All of it.");
    expect(requests).toHaveLength(1);
  });

  test("a response that does not report that it is complete is requested once", async () => {
    const item = {
      id: "m1",
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "All of it.", annotations: [] }],
    };
    answer = (streamed) =>
      streamed
        ? events(
            { type: "response.output_text.delta", item_id: "m1", delta: "All of it." },
            { type: "response.output_item.done", item },
          )
        : JSON.stringify({ output: [item] });
    expect(said(await run(stream, {}, { api: "responses" }))).toBe("All of it.");
    expect(requests).toHaveLength(1);
  });

  test("a content may be a list of parts", async () => {
    const part = (text: string) => ({ type: "text", text });
    answer = completion(
      { content: [part("All "), part("of it."), { type: "reference", reference_ids: [1] }] },
      { content: [part("All ")] },
      { content: [part("of it.")] },
    );
    expect(said(await run(stream))).toBe("All of it.");
    expect(requests).toHaveLength(1);
  });

  test("a refusal is the answer", async () => {
    answer = completion({ content: null, refusal: "I will not." }, { refusal: "I will not." });
    expect(said(await run(stream))).toBe("I will not.");
  });

  test("a refusal of structured output ends the run with the model's words", async () => {
    const schema = {
      provider: "autogen_agentchat.messages.StructuredMessageFactory",
      config: {
        json_schema: { type: "object", title: "City", properties: { name: { type: "string" } } },
        content_model_name: "City",
      },
    };
    answer = completion({ content: null, refusal: "I will not." }, { refusal: "I will not." });
    const failed = await run(stream, { structured_message_factory: schema });
    expect(failed.status).toBe("failed");
    expect(failed.error?.message).toContain("I will not.");
    expect(failed.error?.type).not.toBe("internal_error");
  });

  test.each([
    ["chat completions", "chat_completions"],
    ["responses", "responses"],
  ])("calls of %s without ids get some", async (_, api) => {
    const calls = ["1 + 1", "2 + 2"].map((expression) => ({
      name: "calculator",
      arguments: JSON.stringify({ expression }),
    }));
    const items = calls.map((call) => ({ type: "function_call", ...call }));
    const tool_calls = calls.map((call) => ({ function: call }));
    const completed = completion(
      { content: null, tool_calls },
      ...tool_calls.map((call) => ({ tool_calls: [call] })),
    );
    answer = (streamed) => {
      if (api === "chat_completions") return completed(streamed);
      if (!streamed) return JSON.stringify({ status: "completed", output: items });
      return events(...items.map((item) => ({ type: "response.output_item.done", item })));
    };
    const done = await run(stream, { tools: [calculator], reflect_on_tool_use: false }, { api });
    expect(done.status).toBe("completed");
    const request = done.result?.messages.find(({ type }) => type === "ToolCallRequestEvent");
    const asked = (request as { content: { id: string; arguments: string }[] }).content;
    expect(asked.map((call) => JSON.parse(call.arguments))).toEqual([
      { expression: "1 + 1" },
      { expression: "2 + 2" },
    ]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(2);
    expect(asked[0]?.id).toMatch(/^call_/);
  });
});
