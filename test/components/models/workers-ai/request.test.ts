import { describe, expect, test } from "vitest";
import { WorkersAIChatCompletionClient } from "troupe";
import type { CreateOptions, LLMMessage, WorkersAIBinding } from "troupe";
import type { WorkersAIChatCompletionClientOptions } from "troupe";
import { assistant, collect, customInfo, system, toolResult, user } from "../support.ts";

const NATIVE = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
const LIKE_OPENAI = "@cf/openai/gpt-oss-120b";

interface Call {
  model: string;
  inputs: Record<string, unknown>;
}

/** A binding that answers everything with a text, and the calls of it. */
function bindingAndCalls(): { ai: WorkersAIBinding; calls: Call[] } {
  const calls: Call[] = [];
  const ai: WorkersAIBinding = {
    async run(model, inputs, { returnRawResponse }) {
      expect(returnRawResponse).toBe(true);
      calls.push({ model, inputs });
      return Response.json({ response: "Hi" });
    },
  };
  return { ai, calls };
}

async function inputsOf(
  messages: readonly LLMMessage[],
  config: WorkersAIChatCompletionClientOptions,
  options: CreateOptions = {},
): Promise<Record<string, unknown>> {
  const { ai, calls } = bindingAndCalls();
  await new WorkersAIChatCompletionClient(config, { ai }).create(messages, options);
  expect(calls).toHaveLength(1);
  expect(calls[0]?.model).toBe(config.model);
  return calls[0]!.inputs;
}

describe("the inputs of a request", () => {
  test("are messages and options, and models with the older interface get a limit of tokens", async () => {
    expect(await inputsOf([user("Hi", "anna")], { model: LIKE_OPENAI })).toEqual({
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(await inputsOf([user("Hi")], { model: NATIVE })).toEqual({
      messages: [{ role: "user", content: "Hi" }],
      max_tokens: 2048,
    });
    const options = { maxTokens: 99, temperature: 0.5, topK: 3, repetitionPenalty: 1.1 };
    const extraCreateArgs = { temperature: 0.9, timeout: 30 };
    expect(
      await inputsOf([user("Hi")], { model: NATIVE, ...options }, { extraCreateArgs }),
    ).toMatchObject({ max_tokens: 99, top_k: 3, repetition_penalty: 1.1, temperature: 0.9 });
    expect(
      await inputsOf([user("Hi", "anna")], { model: NATIVE, addNamePrefixes: true }),
    ).toMatchObject({ messages: [{ content: "anna said:\nHi" }] });
  });

  test("have no null where the binding refuses it", async () => {
    const call = { id: "c1", name: "add", arguments: '{"a":1}' };
    const messages = [system("Be kind."), user("Add."), assistant([call]), toolResult("c1", "2")];
    expect((await inputsOf(messages, { model: LIKE_OPENAI }))["messages"]).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Add." },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "2" },
    ]);
  });

  test("show a forced tool only, because none can be named", async () => {
    const tools = [{ name: "add" }, { name: "sub" }];
    const choice = async (toolChoice: CreateOptions["toolChoice"] & {}) => {
      const given = await inputsOf([user("Hi")], { model: LIKE_OPENAI }, { tools, toolChoice });
      const names = (given["tools"] as { function: { name: string } }[]).map(
        (tool) => tool.function.name,
      );
      return [given["tool_choice"], ...names];
    };
    expect(await choice("auto")).toEqual(["auto", "add", "sub"]);
    expect(await choice("none")).toEqual(["none", "add", "sub"]);
    expect(await choice({ name: "sub" })).toEqual(["required", "sub"]);
    await expect(choice({ name: "mul" })).rejects.toThrow("'mul'");
  });

  test("request JSON in the way of the model's interface", async () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const strict = { ...schema, required: ["a"], additionalProperties: false };
    const format = async (model: string, jsonOutput: CreateOptions["jsonOutput"] & {}) =>
      (await inputsOf([user("Hi")], { model }, { jsonOutput }))["response_format"];
    expect(await format(NATIVE, { name: "A", schema })).toEqual({
      type: "json_schema",
      json_schema: strict,
    });
    expect(await format(LIKE_OPENAI, { name: "A", schema })).toEqual({
      type: "json_schema",
      json_schema: { name: "A", schema: strict, strict: true },
    });
    expect(await format(NATIVE, true)).toEqual({ type: "json_object" });
    await expect(
      inputsOf([user("Hi")], { model: "@cf/qwen/qwq-32b" }, { jsonOutput: true }),
    ).rejects.toThrow("json_output");
  });
});

test("JSON of a model with the older interface is not streamed, and comes in one piece", async () => {
  const { ai, calls } = bindingAndCalls();
  const client = new WorkersAIChatCompletionClient({ model: NATIVE }, { ai });
  const { pieces, result } = await collect(client.createStream([user("Hi")], { jsonOutput: true }));
  expect(pieces).toEqual(["Hi"]);
  expect(result).toMatchObject({ content: "Hi", model: NATIVE });
  expect(calls[0]?.inputs).not.toHaveProperty("stream");
});

describe("the models of the service", () => {
  const infoOf = (model: string) =>
    new WorkersAIChatCompletionClient({ model }, bindingAndCalls()).modelInfo;

  test("have its windows and abilities in the catalogue", async () => {
    const client = new WorkersAIChatCompletionClient({ model: NATIVE }, bindingAndCalls());
    const count = await client.countTokens([user("Hello")]);
    expect(await client.remainingTokens([user("Hello")])).toBe(24_000 - count);
    expect(infoOf(NATIVE)).toMatchObject({ functionCalling: true, family: "llama-3.3-70b" });
    expect(infoOf("@cf/deepseek-ai/deepseek-r1-distill-qwen-32b")).toMatchObject({
      family: "r1",
      functionCalling: false,
    });
    expect(infoOf("@cf/moonshotai/kimi-k2.6")).toMatchObject({ vision: true });
    expect(infoOf("@cf/acme/new-model")).toMatchObject({ functionCalling: true, vision: false });
  });

  test("have the properties that the config sets", () => {
    const config = { model: NATIVE, modelInfo: customInfo };
    expect(new WorkersAIChatCompletionClient(config, bindingAndCalls()).modelInfo).toEqual(
      customInfo,
    );
  });
});

test("a client without the binding does not exist, and the error says what to add", () => {
  expect(() => new WorkersAIChatCompletionClient({ model: NATIVE }, {})).toThrow(
    /binding AI.*wrangler\.toml/,
  );
});

test("a binding of another kind is not a model", async () => {
  const ai = { run: () => Promise.resolve({ response: "Hi" }) };
  const client = new WorkersAIChatCompletionClient({ model: NATIVE }, { ai });
  await expect(client.create([user("Hi")])).rejects.toThrow("not one of Workers AI");
});
