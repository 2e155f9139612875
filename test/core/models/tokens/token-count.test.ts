import { describe, expect, test } from "vitest";
import type { FunctionCall, JsonObject, LLMMessage, ToolSchema } from "troupe";
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

test("new models of OpenAI have its newest vocabulary, and others that of GPT-4", async () => {
  const name = async (model: string) => (await tokenizerFor(model)).name;
  expect(await name("gpt-5.4-mini")).toBe("o200k_base");
  expect(await name("openai/gpt-5.2")).toBe("o200k_base");
  expect(await name("o9-mini")).toBe("o200k_base");
  expect(await name("qwen3:8b")).toBe("cl100k_base");
});

describe("the tokens of messages", () => {
  test("are three for the reply, three per message, its texts, and one for a name", async () => {
    expect(await count()).toBe(3);
    expect(await count({ type: "SystemMessage", content: "hello" })).toBe(3 + 3 + 2);
    expect(await count(user("hello"))).toBe(3 + 3 + 3 + 1);
    expect(await count(user("hello"), user("hello"))).toBe(3 + 2 * 7);
  });

  test("include the texts of every kind", async () => {
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

  test("include a text that looks like a control token as text", async () => {
    expect(await count(user("<|endoftext|>"))).toBeGreaterThan(await count(user("a")));
  });

  test("follow the encoding of the model", async () => {
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

describe("the tokens of tools and calls", () => {
  const WEATHER: ToolSchema = {
    name: "get_current_weather",
    description: "Get the current weather in a given location",
    parameters: {
      type: "object",
      properties: {
        location: { type: "string", description: "The city and state, e.g. San Francisco, CA" },
        unit: {
          type: "string",
          description: "The unit of temperature to return",
          enum: ["celsius", "fahrenheit"],
        },
      },
      required: ["location"],
    },
  };

  test.each([
    ["gpt-4", 105],
    ["gpt-4o", 101],
  ])("a tool of OpenAI's cookbook makes a prompt of %s of %i tokens", async (model, tokens) => {
    const content = "You are a helpful assistant that can answer to questions about the weather.";
    const question = user("What's the weather like in San Francisco?");
    const prompt: LLMMessage[] = [{ type: "SystemMessage", content }, question];
    // The cookbook's user has no name, which takes two tokens.
    expect(await countTokens(prompt, [WEATHER], model)).toBe(tokens + 2);
  });

  const tool = async (properties: JsonObject, required: string[] = []) => {
    const parameters = { type: "object", properties, required };
    return (await countTokens([], [{ name: "add", parameters }], "gpt-4o")) - 3;
  };

  test("include all that a model reads of the parameters", async () => {
    const none = await tool({});
    expect(none).toBe(7 + 2 + 12);
    const text = { type: "string" };
    const one = await tool({ city: text });
    expect(one - none).toBe(3 + 3 + 3);
    expect((await tool({ city: { ...text, title: "City" } })) - one).toBe(2 + 1);
    expect((await tool({ city: { ...text, default: "Rome" } })) - one).toBe(2 + 3);
    expect(await tool({ city: { anyOf: [text, { type: "null" }] } })).toBeGreaterThan(one);
    const inside = { type: "object", properties: { city: text } };
    const list = await tool({ all: { type: "array" } });
    expect((await tool({ all: { type: "array", items: inside } })) - list).toBe(one - none);
  });

  test("count calls as AutoGen does, and each result as a message", async () => {
    const call = (args: string): FunctionCall => ({ id: "c1", name: "add", arguments: args });
    const calls = (...content: FunctionCall[]): LLMMessage => ({
      type: "AssistantMessage",
      source: "a",
      content,
      thought: null,
    });
    const encoded = async (json: string) => (await tokenizerFor("gpt-4o")).count(json);
    const written =
      '[{"id": "c1", "function": {"arguments": "{\\"a\\": 1}", "name": "add"}, "type": "function"}]';
    expect(await count(calls(call('{"a": 1}')))).toBe(3 + 3 + 1 + (await encoded(written)) + 1);
    const city = call('{"city": "Кишинёв"}');
    expect(await count(calls(city))).toBeLessThan((await count(calls(call("{}")))) + 20);
    const result = { content: "3", name: "add", call_id: "c1", is_error: false };
    const results = (...content: (typeof result)[]) =>
      count({ type: "FunctionExecutionResultMessage", content });
    expect(await results(result)).toBe(3 + 3 + 1 + 1 + 2);
    expect(await results(result, result)).toBe(3 + 2 * (3 + 1 + 1 + 2));
  });
});
