import { describe, expect, test } from "vitest";
import { WorkersAIChatCompletionClient } from "troupe";
import type { WorkersAIBinding } from "troupe";
import { collect, user } from "../support.ts";

/** A client whose service gives this answer. */
function clientOf(answer: () => Response, model = "@cf/meta/llama-3.3-70b-instruct-fp8-fast") {
  const ai: WorkersAIBinding = { run: async () => answer() };
  return new WorkersAIChatCompletionClient({ model }, { ai });
}

const stream = (...chunks: (object | string)[]) =>
  new Response(
    chunks
      .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`)
      .join(""),
    { headers: { "content-type": "text/event-stream" } },
  );

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

describe("the older interface", () => {
  test("returns a text, with its tokens", async () => {
    const whole = clientOf(() => Response.json({ response: "Hello there", usage }));
    const expected = {
      content: "Hello there",
      finish_reason: "stop",
      usage: { prompt_tokens: 7, completion_tokens: 3 },
      thought: null,
    };
    expect(await whole.create([user("Hi")])).toMatchObject(expected);
    const streamed = clientOf(() =>
      stream({ response: "Hello" }, { response: " there" }, { response: "", usage }, "[DONE]"),
    );
    const { pieces, result } = await collect(streamed.createStream([user("Hi")]));
    expect(pieces).toEqual(["Hello", " there"]);
    expect(result).toMatchObject(expected);
    expect(streamed.totalUsage()).toEqual({ prompt_tokens: 7, completion_tokens: 3 });
  });

  test("returns tool calls as objects without ids, which get different ones", async () => {
    const tool_calls = [
      { name: "add", arguments: { a: 1 } },
      { name: "add", arguments: { a: 2 } },
    ];
    const results = [
      await clientOf(() => Response.json({ response: null, tool_calls })).create([user("Hi")]),
      (
        await collect(
          clientOf(() => stream({ response: "", tool_calls }, "[DONE]")).createStream([user("Hi")]),
        )
      ).result,
    ];
    for (const { content, finish_reason } of results) {
      expect(finish_reason).toBe("function_calls");
      expect(content).toMatchObject([
        { name: "add", arguments: '{"a":1}' },
        { name: "add", arguments: '{"a":2}' },
      ]);
      const [first, second] = content as { id: string }[];
      expect(first?.id).toMatch(/^call_/);
      expect(first?.id).not.toBe(second?.id);
    }
  });

  test("streams tool calls in parts, which an empty one ends", async () => {
    const part = (call: object) => ({ response: "", tool_calls: [{ index: 0, ...call }] });
    const client = clientOf(() =>
      stream(
        part({ id: "c1", type: "function", function: { name: "add", arguments: "" } }),
        part({ function: { arguments: '{"a"' } }),
        part({ function: { arguments: ":1}" } }),
        part({ id: null, type: null, function: { name: null, arguments: "" } }),
        "[DONE]",
      ),
    );
    const { result } = await collect(client.createStream([user("Hi")]));
    expect(result.content).toEqual([{ id: "c1", name: "add", arguments: '{"a":1}' }]);
  });

  test("returns JSON output as an object", async () => {
    const client = clientOf(() => Response.json({ response: { city: "Paris" } }));
    expect((await client.create([user("Hi")], { jsonOutput: true })).content).toBe(
      '{"city":"Paris"}',
    );
  });

  test("returns thoughts inside the text", async () => {
    const model = "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b";
    const client = clientOf(() => Response.json({ response: "<think>So.</think>Yes." }), model);
    expect(await client.create([user("Hi")])).toMatchObject({ content: "Yes.", thought: "So." });
  });

  test("returns an incomplete answer if a stream ends before the last event", async () => {
    const client = clientOf(() => stream({ response: "Hel" }));
    await expect(collect(client.createStream([user("Hi")]))).rejects.toMatchObject({
      kind: "bad_response",
      retryable: true,
    });
  });
});

test("an answer like OpenAI's without a finish reason is complete, and its calls without ids get some", async () => {
  const model = "@cf/openai/gpt-oss-120b";
  const calls = [1, 2].map((a) => ({ function: { name: "add", arguments: `{"a":${a}}` } }));
  const part = (call: object) => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
  const message = { content: null, tool_calls: calls };
  const whole = clientOf(() => Response.json({ choices: [{ index: 0, message }] }), model);
  const streamed = clientOf(() => stream(...calls.map(part), "[DONE]"), model);
  const results = [
    await whole.create([user("Hi")]),
    (await collect(streamed.createStream([user("Hi")]))).result,
  ];
  for (const { content } of results) {
    expect(content).toMatchObject([{ arguments: '{"a":1}' }, { arguments: '{"a":2}' }]);
    const [first, second] = content as { id: string }[];
    expect(first?.id).toMatch(/^call_/);
    expect(first?.id).not.toBe(second?.id);
  }
  const text = { choices: [{ index: 0, delta: { content: "Hello" } }] };
  const begun = clientOf(() => stream(text, "[DONE]"), model);
  expect((await collect(begun.createStream([user("Hi")]))).result).toMatchObject({
    content: "Hello",
    finish_reason: "unknown",
  });
  for (const events of [[text], ["[DONE]"]])
    await expect(
      collect(clientOf(() => stream(...events), model).createStream([user("Hi")])),
    ).rejects.toMatchObject({ kind: "bad_response" });
});

describe("an error of the service", () => {
  const failure = (status: number, body: object) =>
    clientOf(() => Response.json(body, { status }))
      .create([user("Hi")])
      .catch((error: unknown) => error);

  test("that reports no capacity is retried", async () => {
    const description = "Capacity temporarily exceeded, please try again.";
    expect(await failure(429, { internalCode: 3040, name: "AiError", description })).toMatchObject({
      kind: "rate_limit",
      retryable: true,
      message: `429 ${description}`,
      data: { provider_code: "3040" },
    });
  });

  test.each([3036, 4006])(
    "that has the code %i ends the attempts, because nothing is left for today",
    async (code) => {
      const message = "you have used up your daily free allocation of 10,000 neurons";
      expect(await failure(429, { errors: [{ code, message }] })).toMatchObject({
        kind: "rate_limit",
        retryable: false,
        message: `429 ${message}`,
      });
    },
  );

  test("that names an unknown model, as gateways write it, or is not JSON is recognised", async () => {
    expect(await failure(400, { error: { code: 5007, message: "No such model" } })).toMatchObject({
      kind: "bad_request",
      message: "400 No such model",
    });
    const client = clientOf(() => new Response("oops", { status: 502 }));
    await expect(client.create([user("Hi")])).rejects.toMatchObject({
      kind: "server",
      message: "502 oops",
    });
  });

  test("that reports a conversation beyond the window is recognised", async () => {
    const description =
      "The estimated number of input and maximum output tokens exceeded this model context window limit.";
    expect(await failure(413, { internalCode: 5021, description })).toMatchObject({
      kind: "context_length",
      retryable: false,
    });
  });

  test("that reports a binding without a connection is recognised", async () => {
    const ai = { run: () => Promise.reject(new Error("Binding AI needs to be run remotely")) };
    const client = new WorkersAIChatCompletionClient({ model: "@cf/x/y" }, { ai });
    await expect(client.create([user("Hi")])).rejects.toMatchObject({
      kind: "connection",
      message: expect.stringContaining("run remotely") as string,
    });
  });
});
