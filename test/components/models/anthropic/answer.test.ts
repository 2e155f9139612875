import { expect, test } from "vitest";
import { AnthropicChatCompletionClient } from "troupe";
import type { CreateOptions, CreateResult } from "troupe";
import type { Reply } from "../../../support/fake-openai/rule.ts";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, serveOnce, user } from "../support.ts";

const clientOf = (origin: string) =>
  new AnthropicChatCompletionClient({
    model: "claude-sonnet-4-5",
    apiKey: "key",
    baseURL: origin,
  });

/** The reply read both ways, which must agree, and the text of the stream. */
async function both(
  reply: Reply,
  options: CreateOptions = {},
): Promise<{ result: CreateResult; shown: string }> {
  await using fake = await startFakeOpenAI({ rules: [{ name: "reply", reply }] });
  const client = clientOf(fake.origin);
  const whole = await client.create([user("Hi")], options);
  const { pieces, result } = await collect(client.createStream([user("Hi")], options));
  expect(result).toEqual(whole);
  return { result, shown: pieces.join("") };
}

const answer = (args: object) => ({ id: "a1", name: "json_answer", arguments: { ...args } });

test("the arguments of the answer tool are the answer, and are streamed", async () => {
  const { result, shown } = await both(
    { tool_calls: [answer({ city: "Paris" })], reasoning: "France." },
    { jsonOutput: true },
  );
  expect(result).toMatchObject({
    content: '{"city":"Paris"}',
    finish_reason: "stop",
    thought: "France.",
  });
  expect(shown).toBe('<think>France.</think>{"city":"Paris"}');
});

test("a text beside the answer is its thought, and an empty answer is an object", async () => {
  const { result } = await both(
    { content: "Here it is.", tool_calls: [answer({})] },
    { jsonOutput: true },
  );
  expect(result).toMatchObject({ content: "{}", finish_reason: "stop", thought: "Here it is." });
});

test("an answer that was cut off contains a note", async () => {
  const { result } = await both(
    { tool_calls: [answer({ city: "P" })], finish_reason: "length" },
    { jsonOutput: true },
  );
  expect(result).toMatchObject({ finish_reason: "length" });
});

test("calls of other tools come before the answer", async () => {
  const { result } = await both(
    { tool_calls: [{ id: "c1", name: "add", arguments: {} }, answer({ city: "Paris" })] },
    { jsonOutput: true, tools: [{ name: "add" }] },
  );
  expect(result).toMatchObject({
    finish_reason: "function_calls",
    content: [{ id: "c1", name: "add", arguments: "{}" }],
  });
});

test("the thought of the model is the thought of its calls", async () => {
  const { result, shown } = await both({
    reasoning: "I should add.",
    content: "Let me add.",
    tool_calls: [{ id: "c1", name: "add", arguments: { a: 1 } }],
  });
  expect(result).toMatchObject({ thought: "I should add." });
  expect(shown).toBe("<think>I should add.</think>Let me add.");
});

test("tokens of the cache are part of the prompt", async () => {
  const usage = {
    input_tokens: 5,
    cache_creation_input_tokens: 100,
    cache_read_input_tokens: 1000,
    output_tokens: 1,
  };
  const message = { type: "message", role: "assistant", content: [], stop_reason: null, usage };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  await using streaming = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events)
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  const { result } = await collect(
    clientOf(new URL(streaming.url).origin).createStream([user("Hi")]),
  );
  expect(result).toMatchObject({
    content: "Hi",
    usage: { prompt_tokens: 1105, completion_tokens: 7 },
  });
  await using plain = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const content = [{ type: "text", text: "Hi" }];
    response.end(JSON.stringify({ ...message, content, stop_reason: "max_tokens" }));
  });
  expect(await clientOf(new URL(plain.url).origin).create([user("Hi")])).toMatchObject({
    finish_reason: "length",
    usage: { prompt_tokens: 1105, completion_tokens: 1 },
  });
});

test("a rate limit in the middle of a stream is an error with the time to wait", async () => {
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "retry-after": "3" });
    const error = { type: "rate_limit_error", message: "Slow down." };
    response.end(`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`);
  });
  const stream = clientOf(new URL(server.url).origin).createStream([user("Hi")]);
  await expect(collect(stream)).rejects.toMatchObject({
    kind: "rate_limit",
    message: "Slow down. (the server asks for a wait of 3 seconds)",
    retryAfterMs: 3000,
  });
});

test("an error is the server's message, not its body", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "no", fault: { kind: "status", status: 400, message: "credit balance is too low" } },
    ],
  });
  await expect(clientOf(fake.origin).create([user("Hi")])).rejects.toMatchObject({
    kind: "bad_request",
    message: "400 credit balance is too low",
  });
});
