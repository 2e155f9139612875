import { expect, test } from "vitest";
import { OllamaChatCompletionClient } from "troupe";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, serveOnce, user } from "../support.ts";

const clientOf = (host: string) => new OllamaChatCompletionClient({ model: "qwen3", host });

/** A server that streams these lines in packets of `size` bytes. */
const streaming = (lines: readonly object[], size = Number.POSITIVE_INFINITY) =>
  serveOnce((response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
    response.end();
  });

const done = { message: { role: "assistant", content: "" }, done: true, done_reason: "stop" };

test("lines are read however they are cut, even if the last one has no end", async () => {
  const lines = [
    { message: { content: "Grüße, " }, done: false },
    { message: { content: "Welt 🌍" }, done: false },
    { ...done, prompt_eval_count: 7, eval_count: 3 },
  ];
  for (const size of [1, 7, 1000]) {
    await using server = await streaming(lines, size);
    const { result } = await collect(clientOf(server.url).createStream([user("Hi")]));
    expect(result).toMatchObject({
      content: "Grüße, Welt 🌍",
      finish_reason: "stop",
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
  }
});

test("tool calls of servers without ids get different ones, and the reasoning is their thought", async () => {
  const call = { function: { name: "add", arguments: { a: 1 } } };
  await using server = await streaming([
    { message: { content: "", thinking: "I should add." }, done: false },
    { message: { content: "", tool_calls: [call, call] }, done: false },
    done,
  ]);
  const { result, pieces } = await collect(clientOf(server.url).createStream([user("Hi")]));
  expect(pieces.join("")).toBe("<think>I should add.</think>");
  expect(result).toMatchObject({
    finish_reason: "function_calls",
    content: [
      { name: "add", arguments: '{"a":1}' },
      { name: "add", arguments: '{"a":1}' },
    ],
    thought: "I should add.",
  });
  const [first, second] = result.content as { id: string }[];
  expect(first?.id).toMatch(/^call_/);
  expect(first?.id).not.toBe(second?.id);
});

test("a model that the server does not have causes an error that explains how to get it", async () => {
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "gone", fault: { kind: "status", status: 404, message: "model 'qwen3' not found" } },
    ],
  });
  await expect(clientOf(fake.origin).create([user("Hi")])).rejects.toMatchObject({
    kind: "bad_request",
    retryable: false,
    status: 404,
    message: expect.stringMatching(/model 'qwen3' not found.*ollama pull/) as string,
  });
});

test("an error in an answer of status 200 is recognised", async () => {
  await using server = await streaming([{ error: "llama runner process has terminated" }]);
  const client = clientOf(server.url);
  const failure = { kind: "server", retryable: true, message: /runner process/ };
  await expect(client.create([user("Hi")])).rejects.toMatchObject({
    ...failure,
    message: expect.stringMatching(failure.message) as string,
  });
});

test("an answer without an end does not fill the memory", async () => {
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const megabyte = "x".repeat(1024 * 1024);
    const more = (): void => {
      while (!response.destroyed && response.write(megabyte));
    };
    response.on("drain", more);
    more();
  });
  const stream = clientOf(server.url).createStream([user("Hi")]);
  await expect(collect(stream)).rejects.toMatchObject({
    kind: "bad_response",
    retryable: false,
    message: expect.stringContaining("larger than") as string,
  });
  await server.left;
});
