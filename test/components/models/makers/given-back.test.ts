import { describe, expect, test } from "vitest";
import { ComponentRegistry, openAIComponents } from "troupe";
import type { ChatCompletionClient, CreateResult, FunctionCall, LLMMessage } from "troupe";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { MAKERS } from "../../../support/makers.ts";
import { assistant, clientOf, collect, serveOnce, toolResult, user } from "../support.ts";

const tools = [{ name: "add", description: "Adds.", parameters: { type: "object" } }];
const registry = new ComponentRegistry().register(...openAIComponents());

/** An answer as a message of the next request. */
function turnOf({ content, thought = null, troupe }: CreateResult): LLMMessage {
  return { ...assistant(content, thought), ...(troupe && { troupe }) };
}

type Body = { [key: string]: unknown } & { messages: { [key: string]: unknown }[] };

/** Fields of a message and its calls that go back. */
function givenIn(message: { [key: string]: unknown } | undefined): unknown {
  const { role: _, content, tool_calls, ...fields } = message ?? {};
  const calls = ((tool_calls ?? []) as { extra_content?: unknown }[]).map(
    ({ extra_content }) => extra_content,
  );
  const blocks = Array.isArray(content)
    ? (content as { type: string }[]).filter(({ type }) => type.includes("thinking"))
    : [];
  return { ...fields, calls: calls.filter((call) => call !== undefined), blocks };
}

const signed = { google: { thought_signature: expect.any(String) as string } };
const nothing = { calls: [], blocks: [] };

/** What goes back with two calls, by the names of the makers. */
const GIVEN: { readonly [name: string]: unknown } = {
  "Claude Sonnet 4.5 with a budget": {
    calls: [],
    blocks: [
      { type: "thinking", thinking: "I have to add.", signature: expect.any(String) as string },
      { type: "redacted_thinking", data: expect.any(String) as string },
    ],
  },
  "Claude Sonnet 5.5, adaptive, thoughts omitted": {
    calls: [],
    blocks: [
      { type: "thinking", thinking: "", signature: expect.any(String) as string },
      { type: "redacted_thinking", data: expect.any(String) as string },
    ],
  },
  "Gemini 3 Pro": { calls: [signed], blocks: [] },
  "DeepSeek V4": { ...nothing, reasoning_content: "I have to add." },
  "Kimi K2 Thinking": { ...nothing, reasoning_content: "I have to add." },
  "GLM 5.1": { ...nothing, reasoning_content: "I have to add." },
  "MiniMax M2": { ...nothing, reasoning_content: "I have to add." },
  "Qwen 3": { ...nothing, reasoning_content: "I have to add." },
  "Grok 4": { ...nothing, reasoning_content: "I have to add." },
  Magistral: {
    calls: [],
    blocks: [{ type: "thinking", thinking: [{ type: "text", text: "I have to add." }] }],
  },
  "gpt-oss": { ...nothing, reasoning: "I have to add." },
  "DeepSeek V4 by OpenRouter": {
    ...nothing,
    reasoning_details: [
      {
        type: "reasoning.text",
        text: "I have to add.",
        format: "anthropic-claude-v1",
        index: 0,
        signature: expect.any(String) as string,
      },
    ],
  },
  "gpt-4o": nothing,
};

describe.each(MAKERS.filter(({ name }) => name in GIVEN))("$name", ({ name, client }) => {
  test("gets the data it gave with its calls back, unchanged, and continues in the required form", async () => {
    await using fake = await startFakeOpenAI({
      rules: [
        { name: "answer", match: { role: "tool" }, reply: { content: "It is 5." } },
        {
          name: "calls",
          reply: {
            reasoning: "I have to add.",
            redacted: true,
            content: "Let me see.",
            tool_calls: [{ name: "add" }, { name: "add" }],
          },
        },
      ],
    });
    const model: ChatCompletionClient = registry.load(client(fake.origin), "model");
    const question = user("What is 2 + 3?");
    const whole = await model.create([question], { tools });
    const { result: streamed } = await collect(model.createStream([question], { tools }));
    expect(streamed).toEqual(whole);
    const calls = whole.content as FunctionCall[];
    const results = {
      type: "FunctionExecutionResultMessage",
      content: calls.map((call) => ({
        call_id: call.id,
        name: "add",
        content: "5",
        is_error: false,
      })),
    } as const;
    await model.create([question, turnOf(whole), results], { tools });
    const [first, , last] = fake.requests.map(({ body }) => body as Body);
    expect(givenIn(last?.messages[1])).toEqual(GIVEN[name]);
    const { messages: _, ...settings } = last ?? ({} as Body);
    expect({ ...settings, messages: first?.messages }).toEqual(first);
  });
});

/** What goes back with a text, where that is more than nothing. */
const GIVEN_WITH_TEXT: { readonly [name: string]: unknown } = {
  "Claude Sonnet 4.5 with a budget": {
    calls: [],
    blocks: [
      { type: "thinking", thinking: "I know.", signature: expect.any(String) as string },
      { type: "redacted_thinking", data: expect.any(String) as string },
    ],
  },
  "Gemini 3 Pro": { ...nothing, extra_content: signed },
  "DeepSeek V4": nothing,
  "Kimi K2 Thinking": { ...nothing, reasoning_content: "I know." },
  "GLM 5.1": { ...nothing, reasoning_content: "I know." },
  "Qwen 3": nothing,
  Magistral: {
    calls: [],
    blocks: [{ type: "thinking", thinking: [{ type: "text", text: "I know." }] }],
  },
  "gpt-4o": nothing,
};

describe.each(MAKERS.filter(({ name }) => name in GIVEN_WITH_TEXT))("$name", ({ name, client }) => {
  test("gets the data it gave with a text back, and the text is unchanged", async () => {
    await using fake = await startFakeOpenAI({
      rules: [
        { name: "text", reply: { reasoning: "I know.", redacted: true, content: "It is 5." } },
      ],
    });
    const model: ChatCompletionClient = registry.load(client(fake.origin), "model");
    const whole = await model.create([user("What is 2 + 3?")]);
    const { result: streamed } = await collect(model.createStream([user("What is 2 + 3?")]));
    expect(streamed).toEqual(whole);
    expect(whole).toMatchObject({ content: "It is 5." });
    await model.create([user("What is 2 + 3?"), turnOf(whole), user("Sure?")]);
    const [, , last] = fake.requests.map(({ body }) => body as Body);
    expect(fake.requests).toHaveLength(3);
    expect(givenIn(last?.messages[1])).toEqual(GIVEN_WITH_TEXT[name]);
    expect(JSON.stringify(last?.messages[1]?.["content"])).toContain("It is 5.");
  });
});

/** The client's result of a stream with these chunks. */
async function resultOf(model: string, deltas: readonly object[]): Promise<CreateResult> {
  const chunks = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: "stop" }];
  const events = chunks.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  await using server = await serveOnce((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${events.join("")}data: [DONE]\n\n`);
  });
  const modelInfo = {
    vision: false,
    functionCalling: true,
    jsonOutput: false,
    structuredOutput: false,
    family: "unknown",
  };
  const client = clientOf(server, { model, modelInfo });
  return (await collect(client.createStream([user("Hi")]))).result;
}

describe("streamed parts", () => {
  const call = { index: 0, id: "c1", function: { name: "add", arguments: "{}" } };
  const details = (...texts: string[]): object[] =>
    texts.map((text) => ({
      reasoning_details: [{ type: "reasoning.text", index: 0, text, format: null }],
    }));

  test("that are details are combined by their index", async () => {
    const signature = { reasoning_details: [{ type: "reasoning.text", index: 0, signature: "s" }] };
    const sealed = { reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "d" }] };
    const deltas = [...details("I", " think"), signature, sealed, { tool_calls: [call] }];
    expect((await resultOf("some/model", deltas)).troupe?.data).toEqual({
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "I think", format: null, signature: "s" },
        { type: "reasoning.encrypted", index: 1, data: "d" },
      ],
    });
  });

  test("that are details of MiniMax repeat those before", async () => {
    const deltas = [...details("I", "I think", "I think so"), { tool_calls: [call] }];
    expect((await resultOf("MiniMax-M2", deltas)).troupe?.data).toEqual({
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "I think so", format: null }],
    });
  });

  test("that are Mistral's content are thinking and text in turn", async () => {
    const thinking = (text: string) => ({
      content: [{ type: "thinking", thinking: [{ type: "text", text }] }],
    });
    const result = await resultOf("magistral-medium-latest", [
      thinking("I "),
      thinking("know."),
      { content: "It is" },
      { content: [{ type: "text", text: " 5." }] },
    ]);
    expect(result).toMatchObject({ content: "It is 5.", thought: "I know." });
    expect(result.troupe?.data).toEqual({
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "I know." }] },
        { type: "text", text: "It is 5." },
      ],
    });
  });
});

describe("parts that a request leaves out are noted with its result", () => {
  const question = user("Add.");
  const result = toolResult("c1", "5");
  const call = { id: "c1", name: "add", arguments: "{}" };

  test.each([
    ["Claude Sonnet 4.5 with a budget", /asked without thinking: the calls before/],
    ["DeepSeek V4", /asked without thinking: calls before have no reasoning/],
    ["Kimi K2 Thinking", /asked with placeholders for reasoning that is missing/],
    ["gpt-4o", undefined],
  ])("when %s is called after calls of another model", async (name, note) => {
    await using fake = await startFakeOpenAI();
    const maker = MAKERS.find((one) => one.name === name);
    if (maker === undefined) throw new Error(`no ${name}`);
    const model: ChatCompletionClient = registry.load(maker.client(fake.origin), "model");
    const messages = [question, assistant([call]), result];
    const whole = await model.create(messages, { tools });
    const streamed = await collect(model.createStream(messages, { tools }));
    for (const found of [whole.note, streamed.result.note]) {
      if (note === undefined) expect(found).toBeUndefined();
      else expect(found).toMatch(note);
    }
  });

  test("when the API refused Claude's thinking", async () => {
    await using fake = await startFakeOpenAI({
      rules: [
        {
          name: "calls",
          match: { role: "user" },
          reply: { reasoning: "I add.", tool_calls: [{ name: "add" }] },
        },
      ],
    });
    const [maker] = MAKERS;
    const clientWith = (key: string): ChatCompletionClient =>
      registry.load(maker!.client(fake.origin, key), "model");
    const answer = await clientWith("one").create([question], { tools });
    expect(answer).not.toHaveProperty("note");
    const [{ id } = { id: "" }] = answer.content as FunctionCall[];
    const messages = [question, turnOf(answer), toolResult(id, "5")];
    const { note } = await clientWith("two").create(messages, { tools });
    expect(note).toMatch(/the API refused the signed thinking/);
  });
});

test("data in another form than the maker's is left out", async () => {
  await using fake = await startFakeOpenAI();
  const call = { id: "c1", name: "add", arguments: "{}" };
  const turn = {
    ...assistant([call]),
    troupe: { maker: "qwen", model: "qwen3-max", data: { reasoning_content: 5 } },
  };
  const client = clientOf(fake, { model: "qwen3-max" });
  await client.create([user("Add."), turn, toolResult("c1", "5")], { tools });
  const [{ body } = { body: {} }] = fake.requests;
  expect(givenIn((body as Body).messages[1])).toEqual(nothing);
});
