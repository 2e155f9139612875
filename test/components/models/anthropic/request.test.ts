import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AnthropicChatCompletionClient } from "troupe";
import type { CreateOptions, LLMMessage } from "troupe";
import type { AnthropicChatCompletionClientOptions } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { assistant, customInfo, lastBody, system, toolResult, user } from "../support.ts";

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI({ apiKey: "test-key" });
});
afterAll(() => fake.close());

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const clientOf = (config: Partial<AnthropicChatCompletionClientOptions> = {}) =>
  new AnthropicChatCompletionClient({
    model: "claude-sonnet-4-5",
    apiKey: "test-key",
    baseURL: fake.origin,
    // What requests mark for the cache is in a test of its own.
    cache: "off",
    ...config,
  });

async function sent(
  messages: readonly LLMMessage[],
  config: Partial<AnthropicChatCompletionClientOptions> = {},
  options: CreateOptions = {},
) {
  await clientOf(config).create(messages, options);
  return lastBody(fake);
}

const add = {
  name: "add",
  description: "Adds.",
  parameters: { type: "object", properties: { a: { $ref: "#/$defs/n" } }, $defs: { n: {} } },
};
const call = { id: "c1", name: "add", arguments: '{"a":1}' };

describe("the body of a request", () => {
  test("has the default of max_tokens and no option that was not requested", async () => {
    expect(await sent([user("Hi")])).toEqual({
      model: "claude-sonnet-4-5",
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 4096,
    });
    expect(fake.requests.at(-1)).toMatchObject({
      path: "/v1/messages",
      headers: { "x-api-key": "test-key", "anthropic-version": "2023-06-01" },
    });
    expect(fake.requests.at(-1)?.headers).not.toHaveProperty("authorization");
  });

  test("is sent with default_headers in place of the client's own, in any case", async () => {
    const defaultHeaders = {
      "X-Api-Key": "test-key",
      "Anthropic-Version": "2026-10-21",
      Authorization: "Bearer gateway",
    };
    await sent([user("Hi")], { apiKey: "other-key", defaultHeaders });
    expect(fake.requests.at(-1)).toMatchObject({
      headers: {
        "x-api-key": "test-key",
        "anthropic-version": "2026-10-21",
        authorization: "Bearer gateway",
      },
    });
  });

  test("has the options of the config, which those of the call override", async () => {
    const config: Partial<AnthropicChatCompletionClientOptions> = {
      maxTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      stopSequences: ["END"],
      metadata: { user_id: "u1" },
      cacheControl: { type: "ephemeral", ttl: "1h" },
      defaultHeaders: { "x-team": "blue" },
    };
    const extraCreateArgs = { top_k: 5, extra_body: { max_tokens: 50 }, timeout: 20 };
    const options = { extraCreateArgs, idempotencyKey: "step-1" };
    expect(await sent([user("Hi")], config, options)).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ["END"],
      metadata: { user_id: "u1" },
      cache_control: { type: "ephemeral", ttl: "1h" },
      top_k: 5,
      max_tokens: 50,
    });
    expect(fake.requests.at(-1)).toMatchObject({
      idempotency_key: "step-1",
      headers: { "x-team": "blue" },
    });
    const reserved = { extraCreateArgs: { stream: true, system: "x" } };
    await expect(sent([user("Hi")], {}, reserved)).rejects.toThrow("stream, system");
  });

  test("is refused with invalid options, by name", () => {
    expect(() => clientOf({ maxTokens: 0 })).toThrow(/maxTokens/);
    expect(() => clientOf({ baseURL: "claude" })).toThrow(/http/);
    expect(() => clientOf({ thinking: { type: "enabled", budgetTokens: 10 } })).toThrow(
      /thinking\.budgetTokens/,
    );
  });
});

describe("the messages of a request", () => {
  test("have the API's form for each kind, and blank texts are left out", async () => {
    const body = await sent(
      [
        system("Be kind."),
        user("Add 1.", "anna"),
        assistant([call], "once"),
        toolResult("c1", ""),
        assistant([{ ...call, id: "c2", arguments: "not JSON" }]),
        {
          type: "FunctionExecutionResultMessage",
          content: [{ call_id: "c2", content: "no", name: "add", is_error: true }],
        },
        user("  "),
        assistant("It is 3."),
        system("Be short."),
        user("Thanks."),
        assistant("You are welcome. \n"),
      ],
      {},
      { tools: [add] },
    );
    expect(body["system"]).toBe("Be kind.\nBe short.");
    expect(body.messages).toEqual([
      { role: "user", content: "Add 1." },
      {
        role: "assistant",
        content: [
          { type: "text", text: "once" },
          { type: "tool_use", id: "c1", name: "add", input: { a: 1 } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "" }] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c2", name: "add", input: {} }],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c2",
            content: "no\nThe arguments were not a JSON object: not JSON",
            is_error: true,
          },
        ],
      },
      { role: "assistant", content: "It is 3." },
      { role: "user", content: "Thanks." },
      { role: "assistant", content: "You are welcome." },
    ]);
  });

  test("contain images, which a model without vision refuses", async () => {
    const message = user(["Look:", { data: PNG }, " "]);
    expect((await sent([message])).messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look:" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        ],
      },
    ]);
    await expect(sent([message], { modelInfo: customInfo })).rejects.toThrow("model_info.vision");
  });

  test("have no white space at the end of system messages", async () => {
    const text = async (messages: LLMMessage[], config = {}) =>
      (await sent(messages, config))["system"];
    expect(await text([system("A \n"), user("Hi")])).toBe("A");
    const messages = [system("A "), system("B "), user("Hi")];
    expect(await text(messages, { cache: "auto" })).toMatchObject([{ text: "A " }, { text: "B" }]);
  });

  test("contain one system message for several, whatever model_info says", async () => {
    const messages = [system("A"), user("Hi"), system("B")];
    const modelInfo = { ...customInfo, multipleSystemMessages: false };
    expect((await sent(messages, { modelInfo }))["system"]).toBe("A\nB");
  });
});

describe("the tools of a request", () => {
  test("have their whole schema, and the choice", async () => {
    const choice = async (toolChoice: CreateOptions["toolChoice"] & {}) =>
      (await sent([user("Hi")], {}, { tools: [add, { name: "sub" }], toolChoice }))["tool_choice"];
    expect(await choice("auto")).toEqual({ type: "auto" });
    expect(lastBody(fake)["tools"]).toEqual([
      { name: "add", description: "Adds.", input_schema: add.parameters },
      { name: "sub", input_schema: { type: "object", properties: {} } },
    ]);
    expect(await choice("required")).toEqual({ type: "any" });
    expect(await choice("none")).toEqual({ type: "none" });
    expect(await choice({ name: "sub" })).toEqual({ type: "tool", name: "sub" });
    await expect(choice({ name: "mul" })).rejects.toThrow(/'mul'.*add, sub/);
    await expect(sent([user("Hi")], {}, { tools: [{ name: "no way" }] })).rejects.toThrow(
      "'no way'",
    );
    const modelInfo = { ...customInfo, functionCalling: false };
    await expect(sent([user("Hi")], { modelInfo }, { tools: [add] })).rejects.toThrow(
      "function_calling",
    );
  });

  test("include tools that were called earlier, which must not be called again", async () => {
    const body = await sent([user("Add."), assistant([call]), toolResult("c1", "2")]);
    expect(body["tools"]).toEqual([
      { name: "add", input_schema: { type: "object", properties: {} } },
    ]);
    expect(body["tool_choice"]).toEqual({ type: "none" });
  });
});

describe("the thinking of a request", () => {
  const thinking = { type: "enabled", budgetTokens: 2000 } as const;

  test("has its budget beside the answer's default", async () => {
    expect(await sent([user("Hi")], { thinking })).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 2000 },
      max_tokens: 6096,
    });
    expect(await sent([user("Hi")], { thinking, maxTokens: 3000 })).toMatchObject({
      max_tokens: 3000,
    });
    const adaptive = { type: "adaptive", display: "summarized" } as const;
    expect(await sent([user("Hi")], { thinking: adaptive })).toMatchObject({
      thinking: adaptive,
      max_tokens: 4096,
    });
  });

  test("is left out if the API refuses it: forced tools, and the end of a turn with calls", async () => {
    const tools = [add];
    const turn = [user("Add."), assistant([call], "I think so."), toolResult("c1", "2")];
    expect(await sent([user("Hi")], { thinking }, { tools })).toHaveProperty("thinking");
    expect(await sent(turn, { thinking }, { tools })).not.toHaveProperty("thinking");
    const next = [...turn, assistant("It is 2."), user("And?")];
    expect(await sent(next, { thinking }, { tools })).toHaveProperty("thinking");
    expect(
      await sent([user("Hi")], { thinking }, { tools, toolChoice: "required" }),
    ).not.toHaveProperty("thinking");
    const adaptive = { type: "adaptive" } as const;
    expect(await sent(turn, { thinking: adaptive }, { tools })).toHaveProperty("thinking");
    expect(
      await sent([user("Hi")], { thinking: adaptive }, { jsonOutput: true }),
    ).not.toHaveProperty("thinking");
  });
});

describe("JSON output of a request", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const named = (name: string, input_schema: object) => ({
    name,
    description: expect.any(String) as string,
    input_schema,
  });

  test("is requested as the arguments of a forced tool", async () => {
    const body = await sent([user("Hi")], {}, { jsonOutput: { name: "A", schema } });
    expect(body["tools"]).toEqual([named("json_answer", schema)]);
    expect(body["tool_choice"]).toEqual({ type: "tool", name: "json_answer" });
    const any = await sent([user("Hi")], {}, { jsonOutput: true });
    expect(any["tools"]).toEqual([named("json_answer", { type: "object", properties: {} })]);
  });

  test("leaves the choice between other tools and the answer", async () => {
    const tools = [add, { name: "json_answer" }];
    const body = await sent([user("Hi")], {}, { tools, jsonOutput: true });
    expect(body["tool_choice"]).toEqual({ type: "any" });
    expect((body["tools"] as { name: string }[]).map(({ name }) => name)).toEqual([
      "add",
      "json_answer",
      "json_answer_",
    ]);
    const none = await sent([user("Hi")], {}, { tools, jsonOutput: true, toolChoice: "none" });
    expect(none["tool_choice"]).toEqual({ type: "tool", name: "json_answer_" });
  });

  test("is the default if the config says so, and the call overrides it", async () => {
    const responseFormat = { type: "json_object" } as const;
    expect(await sent([user("Hi")], { responseFormat })).toHaveProperty("tool_choice");
    expect(await sent([user("Hi")], { responseFormat }, { jsonOutput: false })).not.toHaveProperty(
      "tool_choice",
    );
    expect(() => clientOf({ responseFormat, modelInfo: customInfo })).toThrow("json_output");
    await expect(
      sent([user("Hi")], { modelInfo: customInfo }, { jsonOutput: { name: "A", schema } }),
    ).rejects.toThrow("structured_output");
  });
});

test("a model's window comes from the catalogue, and its tokens are estimated", async () => {
  const messages = [user("Hello there")];
  const count = await clientOf().countTokens(messages);
  expect(count).toBeGreaterThan(3);
  expect(await clientOf().remainingTokens(messages)).toBe(200_000 - count);
  expect(clientOf().modelInfo).toEqual({
    vision: true,
    functionCalling: true,
    jsonOutput: true,
    structuredOutput: true,
    multipleSystemMessages: true,
    family: "claude-4-sonnet",
    pdf: true,
  });
});
