import { describe, expect, test } from "vitest";
import {
  type CreateResult,
  FallbackChatCompletionClient,
  ReplayChatCompletionClient,
} from "troupe";
import type { Reply, RuleInput } from "../../../support/fake-openai/rule.ts";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, customInfo, user } from "../support.ts";
import { CLIENTS, type ClientSettings } from "./clients.ts";

const USAGE = { prompt_tokens: 11, completion_tokens: 5 };

describe.each(CLIENTS)("$name", ({ name, connect, logprobs }) => {
  /** The reply read both ways, which must agree, and the pieces of the stream. */
  async function both(
    reply: Reply,
    settings: ClientSettings = {},
    rule: Partial<RuleInput> = {},
  ): Promise<{ result: CreateResult; pieces: string[] }> {
    await using fake = await startFakeOpenAI({
      rules: [{ name: "reply", reply: { usage: USAGE, ...reply }, ...rule }],
    });
    const client = connect(fake.origin, settings);
    const whole = await client.create([user("Hi")]);
    const { pieces, result } = await collect(client.createStream([user("Hi")]));
    expect(result).toEqual(whole);
    expect(client.totalUsage()).toEqual({ prompt_tokens: 22, completion_tokens: 10 });
    return { result, pieces };
  }

  test("a text comes whole or in pieces", async () => {
    const settings = { model: "m-2024-08-06", modelInfo: customInfo };
    const { result, pieces } = await both({ content: "Hello there, friend." }, settings);
    expect(result).toEqual({
      finish_reason: "stop",
      content: "Hello there, friend.",
      model: "m-2024-08-06",
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
        { id: "c3", name: "add", arguments: {} },
      ],
    });
    expect(result).toMatchObject({
      finish_reason: "function_calls",
      content: [
        { id: "c1", name: "add", arguments: '{"a":1,"text":"long enough for several parts"}' },
        { id: "c2", name: "bad_name_", arguments: "{}" },
        { id: "c3", name: "add", arguments: "{}" },
      ],
      thought: "Let me see.",
    });
    expect(pieces.join("")).toBe("Let me see.");
  });

  test.each([
    ["stop", "stop"],
    ["end_turn", "stop"],
    ["LENGTH", "length"],
    ["something_new", "unknown"],
  ])("finish reason %s is %s", async (finish_reason, expected) => {
    expect((await both({ content: "x", finish_reason })).result.finish_reason).toBe(expected);
  });

  describe("the thoughts of a reply", () => {
    test("stream between tags from a field of their own, and are not content", async () => {
      const { result, pieces } = await both({ reasoning: "first then", content: "The answer." });
      expect(result).toMatchObject({ content: "The answer.", thought: "first then" });
      expect(pieces).toEqual(["<think>first", " then", "</think>The", " answer."]);
    });

    test.each([1, 3, 100])(
      "stream between tags from inside the text, in chunks of %i characters",
      async (chunk_size) => {
        const content = "<think>\nfirst then\n</think>\n\nThe answer.";
        const { result, pieces } = await both({ content }, {}, { chunk_size });
        expect(result).toMatchObject({ content: "The answer.", thought: "first then" });
        expect(pieces.join("")).toBe(content);
      },
    );
  });

  test("a refusal is the text of the model", async () => {
    const { result, pieces } = await both({ content: null, refusal: "I cannot do that." });
    expect(result.content).toBe("I cannot do that.");
    expect(pieces.join("")).toBe("I cannot do that.");
  });

  test.runIf(name.startsWith("OpenAI"))(
    "a refusal in place of JSON is an error in the model's words",
    async () => {
      const reply = { content: null, refusal: "I cannot do that.", usage: USAGE };
      await using fake = await startFakeOpenAI({ rules: [{ name: "reply", reply }] });
      const client = connect(fake.origin);
      const jsonOutput = { name: "Answer", schema: { type: "object", properties: {} } };
      const refused = {
        code: "model_refused",
        message: expect.stringContaining("I cannot do that.") as string,
        retryable: false,
        spent: { [client.subject?.name ?? ""]: USAGE },
      };
      await expect(client.create([user("Hi")], { jsonOutput })).rejects.toMatchObject(refused);
      const stream = client.createStream([user("Hi")], { jsonOutput });
      await expect(collect(stream)).rejects.toMatchObject(refused);
      const other = new ReplayChatCompletionClient(["{}"]);
      const fallback = new FallbackChatCompletionClient([client, other]);
      expect(await fallback.create([user("Hi")], { jsonOutput })).toMatchObject({ content: "{}" });
    },
  );

  test.runIf(logprobs)("log probabilities cover all tokens", async () => {
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

  test("a long reply in one packet is read whole", async () => {
    const { pieces } = await both({ words: 2000 }, {}, { batch: 5000 });
    expect(pieces).toHaveLength(2000);
  });
});
