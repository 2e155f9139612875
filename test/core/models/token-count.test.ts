import { describe, expect, test } from "vitest";
import type { LLMMessage } from "troupe";
import { countTokens } from "#core/models/tokens/token-count.ts";
import { tokenizerFor } from "#core/models/tokens/tokenizer.ts";

const count = (...messages: LLMMessage[]) => countTokens(messages, [], "gpt-4o");

const user = (content: string | (string | { data: string })[], source = "user"): LLMMessage => ({
  type: "UserMessage",
  source,
  content,
});

/** The first bytes of a PNG of that size: all that is read. */
function png(width: number, height: number): { data: string } {
  const bytes = Buffer.alloc(24);
  bytes.write("\x89PNG\r\n\x1a\n", "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return { data: bytes.toString("base64") };
}

test("new models of OpenAI have its newest vocabulary, others that of GPT-4", async () => {
  const name = async (model: string) => (await tokenizerFor(model)).name;
  expect(await name("gpt-5.4-mini")).toBe("o200k_base");
  expect(await name("openai/gpt-5.2")).toBe("o200k_base");
  expect(await name("o9-mini")).toBe("o200k_base");
  expect(await name("qwen3:8b")).toBe("cl100k_base");
});

describe("tokens of messages", () => {
  test("three for the reply, three per message, its texts, one for having a name", async () => {
    expect(await count()).toBe(3);
    expect(await count({ type: "SystemMessage", content: "hello" })).toBe(3 + 3 + 2);
    expect(await count(user("hello"))).toBe(3 + 3 + 3 + 1);
    expect(await count(user("hello"), user("hello"))).toBe(3 + 2 * 7);
  });

  test("every kind counts what it says", async () => {
    const call = { id: "c1", name: "add", arguments: '{"a":1}' };
    const said = { type: "AssistantMessage", source: "a", thought: null } as const;
    const withCall = await count({ ...said, content: [call] });
    expect(withCall).toBeGreaterThan(await count({ ...said, content: "" }));
    expect(await count({ ...said, content: [call], thought: "hm, well" })).toBeGreaterThan(
      withCall,
    );
    const result = (content: string): LLMMessage => ({
      type: "FunctionExecutionResultMessage",
      content: [{ content, name: "add", call_id: "c1", is_error: false }],
    });
    expect((await count(result("hello hello"))) - (await count(result("hello")))).toBe(1);
  });

  test("a text that looks like a control token is a text", async () => {
    expect(await count(user("<|endoftext|>"))).toBeGreaterThan(await count(user("a")));
  });

  test("other encodings for other models", async () => {
    const text = "Привет, как дела?";
    const [newer, older] = await Promise.all(
      ["gpt-4o", "gpt-4"].map((model) => countTokens([user(text)], [], model)),
    );
    expect(newer).toBeLessThan(older ?? 0);
    expect(await countTokens([user(text)], [], "somebody/else")).toBe(older);
  });
});

test.each([
  [512, 512, 85 + 170],
  [1024, 1024, 85 + 170 * 4],
  [4096, 8192, 85 + 170 * 6],
  [100, 600, 85 + 170 * 2],
])("a picture of %i by %i takes %i tokens", async (width, height, tokens) => {
  const without = await count(user([]));
  expect((await count(user([png(width, height)]))) - without).toBe(tokens);
});

test("pictures of unknown size count like one that fills the view", async () => {
  const without = await count(user([]));
  expect((await count(user([{ data: "/9j/4AAQ" }]))) - without).toBe(765);
});

test("tools count names, descriptions and parameters", async () => {
  const tool = (parameters: object) =>
    countTokens([], [{ name: "add", description: "Adds", parameters } as never], "gpt-4o");
  const none = await countTokens([], [], "gpt-4o");
  const bare = await countTokens([], [{ name: "add" }], "gpt-4o");
  expect(bare - none).toBe(12 + 1 - 2);
  const property = { a: { type: "number", description: "first", enum: ["x", "y"] } };
  expect(await tool({ type: "object", properties: property })).toBeGreaterThan(
    await tool({ type: "object", properties: { a: { type: "number" } } }),
  );
});
