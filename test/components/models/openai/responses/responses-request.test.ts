import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type AssistantMessage,
  AzureOpenAIChatCompletionClient,
  type ChatCompletionClient,
  type CreateResult,
  type JsonObject,
  type LLMMessage,
  OpenAIChatCompletionClient,
} from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { assistant, clientOf, lastBody, system, toolResult, user } from "../../support.ts";

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI();
});
afterAll(() => fake.close());

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const add = { name: "add", description: "Adds.", parameters: { type: "object", properties: {} } };

type Config = Parameters<typeof clientOf>[1];
const responsesOf = (config: Config = {}) =>
  clientOf(fake, { model: "gpt-5.6", api: "responses", ...config });

/** The answer as the message that an agent keeps of it. */
const remembered = ({ content, thought = null, troupe }: CreateResult): AssistantMessage => ({
  ...assistant(content, thought),
  ...(troupe && { troupe }),
});

test("each kind of message has the API's form", async () => {
  await responsesOf().create([
    system("Be kind."),
    user("Add 1.", "Anna Müller"),
    user(["Look:", { data: PNG }]),
    assistant([{ id: "c1", name: "add", arguments: '{"a":1}' }]),
    toolResult("c1", "2"),
    assistant([{ id: "", name: "add", arguments: "{}" }], "once more"),
    toolResult("", "3"),
    assistant("It is 3.", "I thought"),
    user("Thanks."),
  ]);
  expect(lastBody(fake)).toEqual({
    model: "gpt-5.6",
    input: [
      { role: "system", content: "Be kind." },
      { role: "user", content: "Add 1." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look:" },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
        ],
      },
      { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}' },
      { type: "function_call_output", call_id: "c1", output: "2" },
      { role: "assistant", content: "once more" },
      { type: "function_call", call_id: "call_0", name: "add", arguments: "{}" },
      { type: "function_call_output", call_id: "call_0", output: "3" },
      { role: "assistant", content: "It is 3." },
      { role: "user", content: "Thanks." },
    ],
    store: false,
    reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
});

test("settings have the names of this API, and unsupported ones are left out", async () => {
  const client = responsesOf({
    reasoningEffort: "low",
    verbosity: "high",
    maxCompletionTokens: 500,
    parallelToolCalls: false,
    seed: 7,
    stop: ["END"],
    frequencyPenalty: 0.5,
    user: "u1",
    addNamePrefixes: true,
  });
  await client.create([user("Hi", "anna")], {
    tools: [add, { name: "sub" }],
    toolChoice: { name: "add" },
    jsonOutput: { name: "Sum", schema: { type: "object", properties: { sum: { type: "null" } } } },
    extraCreateArgs: { metadata: { team: "blue" }, logprobs: true, top_logprobs: 2 },
  });
  expect(lastBody(fake)).toEqual({
    model: "gpt-5.6",
    input: [{ role: "user", content: "anna said:\nHi" }],
    tools: [
      { type: "function", ...add, strict: false },
      {
        type: "function",
        name: "sub",
        description: "",
        parameters: { type: "object", properties: {} },
        strict: false,
      },
    ],
    tool_choice: { type: "function", name: "add" },
    store: false,
    reasoning: { effort: "low", summary: "auto" },
    text: {
      verbosity: "high",
      format: {
        type: "json_schema",
        name: "Sum",
        strict: true,
        schema: {
          type: "object",
          properties: { sum: { type: "null" } },
          required: ["sum"],
          additionalProperties: false,
        },
      },
    },
    max_output_tokens: 500,
    parallel_tool_calls: false,
    user: "u1",
    metadata: { team: "blue" },
    top_logprobs: 2,
    include: ["message.output_text.logprobs", "reasoning.encrypted_content"],
  });
});

test("a limit below the API's minimum is raised, max_tokens counts, and effort none requests no summary", async () => {
  await responsesOf({ maxTokens: 5, reasoningEffort: "none" }).create([user("Hi")], {
    jsonOutput: false,
  });
  expect(lastBody(fake)).toMatchObject({
    max_output_tokens: 16,
    reasoning: { effort: "none" },
    text: { format: { type: "text" } },
  });
  expect(lastBody(fake)["reasoning"]).not.toHaveProperty("summary");
});

test("a model that does not reason gets no fields of reasoning", async () => {
  await responsesOf({ model: "gpt-4o", temperature: 0.5 }).create([user("Hi")]);
  expect(lastBody(fake)).toEqual({
    model: "gpt-4o",
    input: [{ role: "user", content: "Hi" }],
    store: false,
    temperature: 0.5,
  });
});

test("options that the client sets itself are refused", async () => {
  for (const name of ["input", "model", "stream"])
    await expect(
      responsesOf().create([user("Hi")], { extraCreateArgs: { [name]: [] } }),
    ).rejects.toThrow(name);
});

test("an answer is sent back unchanged: reasoning, ids and phases, in their order", async () => {
  const reply = {
    reasoning: "Why not.",
    content: "Let me see.",
    tool_calls: [
      { id: "c1", name: "add", arguments: { a: 1 } },
      { id: "c2", name: "add", arguments: { a: 2 } },
    ],
  };
  fake.rules.set([{ name: "calls", match: { role: "user" }, reply }]);
  const client = responsesOf();
  const result = await client.create([user("Hi")], { tools: [add] });
  expect(result).toMatchObject({
    thought: "Let me see.",
    troupe: { maker: new URL(fake.url).host, model: "gpt-5.6" },
  });
  const answered = (await fetchOutput()).output;
  const resultOf = (call_id: string) => ({ call_id, content: "3", name: "add", is_error: false });
  const both: LLMMessage = {
    type: "FunctionExecutionResultMessage",
    content: [resultOf("c1"), resultOf("c2")],
  };
  await client.create([user("Hi"), remembered(result), both], { tools: [add] });
  const input = lastBody(fake)["input"] as JsonObject[];
  expect(input.slice(1, 5).map(withoutLogprobs)).toEqual(answered.map(withoutLogprobs));

  // A handoff passes on one of the calls: what only the other one needs stays behind.
  const one = { ...remembered(result), content: result.content.slice(1) as never };
  await client.create([user("Hi"), one, toolResult("c2", "2")], { tools: [add] });
  const types = (lastBody(fake)["input"] as JsonObject[]).map(({ type, role }) => type ?? role);
  expect(types).toEqual(["user", "reasoning", "message", "function_call", "function_call_output"]);

  async function fetchOutput(): Promise<{ output: JsonObject[] }> {
    const { body } = fake.requests.at(-1) ?? {};
    const response = await fetch(`${fake.url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer test-key" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { output: JsonObject[] };
  }
});

/** Log probabilities of an answer are not part of the conversation. */
function withoutLogprobs(item: JsonObject): JsonObject {
  const text = JSON.stringify(item).replaceAll(',"logprobs":[]', "");
  return JSON.parse(text) as JsonObject;
}

test("a state in AutoGen's form, and the answers of other makers, are items without ids and reasoning", async () => {
  const foreign: AssistantMessage = {
    ...assistant([{ id: "c1", name: "add", arguments: "{}" }]),
    troupe: {
      maker: "anthropic",
      model: "claude",
      data: { items: [{ type: "reasoning", id: "rs_1" }] },
    },
  };
  await responsesOf().create([user("Hi"), foreign, toolResult("c1", "1")], { tools: [add] });
  expect((lastBody(fake)["input"] as JsonObject[]).slice(1)).toEqual([
    { type: "function_call", call_id: "c1", name: "add", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "1" },
  ]);
});

test("reasoning that OpenAI encrypted does not go to Azure, by whichever client, and the other way round", async () => {
  const bodies: string[] = [];
  const record: typeof fetch = async (input, init) => {
    bodies.push(await new Request(input, init).text());
    return Response.json({
      status: "completed",
      output: [
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Yes.", annotations: [] }],
        },
      ],
    });
  };
  const model = "gpt-5.6";
  const azureEndpoint = "https://ours.openai.azure.com";
  const at = (baseURL: string) =>
    new OpenAIChatCompletionClient(
      { model, api: "responses", apiKey: "key", baseURL },
      { fetch: record },
    );
  const openai = at("https://api.openai.com/v1");
  const azure = at(`${azureEndpoint}/openai/v1`);
  const azureClient = new AzureOpenAIChatCompletionClient(
    { model, apiKey: "key", azureEndpoint, apiVersion: "2025-04-01-preview" },
    { fetch: record },
  );
  const first = {
    openai: await openai.create([user("Is it?")]),
    azure: await azure.create([user("Is it?")]),
  };
  const again = async (client: ChatCompletionClient, result: CreateResult) => {
    await client.create([user("Is it?"), remembered(result), user("Really?")]);
    return bodies.at(-1)?.includes('"sealed"');
  };
  expect(await again(openai, first.openai)).toBe(true);
  expect(await again(azure, first.openai)).toBe(false);
  expect(await again(azureClient, first.openai)).toBe(false);
  expect(await again(openai, first.azure)).toBe(false);
  expect(await again(azureClient, first.azure)).toBe(true);
});
