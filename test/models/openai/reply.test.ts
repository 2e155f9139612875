import { describe, expect, test } from "vitest";
import type { CreateResult } from "troupe";
import type { Reply, RuleInput } from "../../support/fake-openai/rule.ts";
import { startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { clientOf, collect, customInfo, lastBody, serveOnce, user } from "../support.ts";

const USAGE = { prompt_tokens: 11, completion_tokens: 5 };
const r1 = { model: "deepseek-r1", model_info: { ...customInfo, family: "r1" } };

/** The reply read both ways, which must agree, and the pieces of the stream. */
async function both(
  reply: Reply,
  config: Parameters<typeof clientOf>[1] = {},
  rule: Partial<RuleInput> = {},
): Promise<{ result: CreateResult; pieces: string[] }> {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "reply", reply: { usage: USAGE, ...reply }, ...rule }],
  });
  const client = clientOf(fake, config);
  const whole = await client.create([user("Hi")]);
  const { pieces, result } = await collect(client.createStream([user("Hi")]));
  expect(result).toEqual(whole);
  expect(client.totalUsage()).toEqual({ prompt_tokens: 22, completion_tokens: 10 });
  return { result, pieces };
}

test("a text comes whole or in pieces", async () => {
  const { result, pieces } = await both({ content: "Hello there, friend." });
  expect(result).toEqual({
    finish_reason: "stop",
    content: "Hello there, friend.",
    usage: USAGE,
    cached: false,
    logprobs: null,
    thought: null,
  });
  expect(pieces).toEqual(["Hello", " there,", " friend."]);
});

test("tool calls, several at once, with the text beside them as thought", async () => {
  const { result, pieces } = await both({
    content: "Let me see.",
    tool_calls: [
      { id: "c1", name: "add", arguments: { a: 1, text: "long enough for several parts" } },
      { id: "c2", name: "bad name!", arguments: "{}" },
      { id: "c2", name: "add", arguments: "" },
    ],
  });
  expect(result).toMatchObject({
    finish_reason: "function_calls",
    content: [
      { id: "c1", name: "add", arguments: '{"a":1,"text":"long enough for several parts"}' },
      { id: "c2", name: "bad_name_", arguments: "{}" },
      { id: "c2", name: "add", arguments: "" },
    ],
    thought: "Let me see.",
  });
  expect(pieces.join("")).toBe("Let me see.");
});

test.each([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["LENGTH", "length"],
  ["content_filter", "content_filter"],
  ["something_new", "unknown"],
])("finish reason %s is %s", async (finish_reason, expected) => {
  expect((await both({ content: "x", finish_reason })).result.finish_reason).toBe(expected);
});

describe("thoughts", () => {
  test("in a field of their own stream between tags and are no content", async () => {
    const { result, pieces } = await both({ reasoning: "first then", content: "The answer." });
    expect(result).toMatchObject({ content: "The answer.", thought: "first then" });
    expect(pieces).toEqual(["<think>first", " then", "</think>The", " answer."]);
  });

  test.each([1, 3, 100])("inside the text, in chunks of %i characters", async (chunk_size) => {
    const content = "<think>\nfirst then\n</think>\n\nThe answer.";
    const { result, pieces } = await both({ content }, r1, { chunk_size });
    expect(result).toMatchObject({ content: "The answer.", thought: "first then" });
    expect(pieces.join("")).toBe(content);
  });

  test.each(["no tags", "<think>not closed", "</think> before <think>"])(
    "%s: all is content",
    async (content) => {
      expect((await both({ content }, r1)).result).toMatchObject({ content, thought: null });
    },
  );

  test("tags in the text of a model that does not think aloud are text", async () => {
    const content = "The tag <think>x</think> means thinking.";
    expect((await both({ content })).result).toMatchObject({ content, thought: null });
  });
});

test("a refusal is what the model says", async () => {
  const { result, pieces } = await both({ content: null, refusal: "I cannot do that." });
  expect(result.content).toBe("I cannot do that.");
  expect(pieces.join("")).toBe("I cannot do that.");
});

test("an empty reply is an empty text", async () => {
  expect((await both({ content: "" })).result).toMatchObject({
    content: "",
    finish_reason: "stop",
  });
});

test("log probabilities of all tokens", async () => {
  const { result } = await both({ content: "Hi there", logprobs: true });
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  expect(result.logprobs).toEqual(
    ["Hi", " there"].map((token) => ({
      token,
      logprob: -0.5,
      bytes: bytes(token),
      top_logprobs: [{ logprob: -0.5, bytes: bytes(token) }],
    })),
  );
});

test("a long reply in one packet", async () => {
  const { pieces } = await both({ words: 2000 }, {}, { batch: 5000 });
  expect(pieces).toHaveLength(2000);
});

test("usage is asked for while streaming, unless the config says otherwise", async () => {
  await using fake = await startFakeOpenAI();
  await collect(clientOf(fake).createStream([user("Hi")]));
  expect(lastBody(fake)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  const without = clientOf(fake, { stream_options: { include_usage: false } });
  const { result } = await collect(without.createStream([user("Hi")]));
  expect(lastBody(fake)).not.toHaveProperty("stream_options");
  expect(result.usage).toEqual({ prompt_tokens: 0, completion_tokens: 0 });
  await without.create([user("Hi")]);
  expect(lastBody(fake)).not.toHaveProperty("stream");
});

test("streamed tool calls of servers that number them all alike, or repeat the id", async () => {
  const call = (id: string | undefined, name: string | undefined, args: string) => ({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id, function: { name, arguments: args } }] } },
    ],
  });
  const chunks = [
    call("a", "add", '{"x"'),
    call("a", undefined, ":1}"),
    call("b", "add", "{}"),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ];
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
  });
  const { result } = await collect(clientOf(server).createStream([user("Hi")]));
  expect(result.content).toEqual([
    { id: "a", name: "add", arguments: '{"x":1}' },
    { id: "b", name: "add", arguments: "{}" },
  ]);
});
