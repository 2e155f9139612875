import { expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "./server.ts";

// What the fake refuses as OpenAI's server does: each request that is wrong beside the same one put right.

const tool = { name: "add", parameters: { type: "object", properties: {} }, strict: false };
const chatTools = [{ type: "function", function: tool }];
const tools = [{ type: "function", ...tool }];
const hi = { role: "user", content: "hi" };

async function post(fake: FakeOpenAI, path: string, body: object, key = "key") {
  const response = await fetch(fake.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

type Change = (body: Record<string, unknown>) => object;

const chat = { model: "gpt-5.6", messages: [hi], tools: chatTools, reasoning_effort: "none" };

const calledAs = (id: string) => [
  hi,
  {
    role: "assistant",
    tool_calls: [{ id, type: "function", function: { name: "add", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: id, content: "5" },
];

test.each<[string, Change, RegExp, number?]>([
  [
    "the id of a call with more than 40 characters",
    (b) => ({ ...b, messages: calledAs("c".repeat(41)) }),
    /Invalid 'messages\[1\]\.tool_calls\[0\]\.id': string too long/,
  ],
  [
    "gpt-5.6 with tools and no effort",
    (b) => ({ ...b, reasoning_effort: undefined }),
    /Function tools with reasoning_effort are not supported for gpt-5\.6.*\/v1\/responses/,
  ],
  [
    "gpt-5.5 with tools and an effort",
    (b) => ({ ...b, model: "gpt-5.5", reasoning_effort: "low" }),
    /gpt-5\.5.*\/v1\/responses/,
  ],
  [
    "gpt-6.1-sol with tools and no effort",
    (b) => ({ ...b, model: "gpt-6.1-sol", reasoning_effort: undefined }),
    /\/v1\/responses/,
  ],
  [
    "gpt-5.4 with tools and an effort",
    (b) => ({ ...b, model: "gpt-5.4", reasoning_effort: "medium" }),
    /gpt-5\.4.*\/v1\/responses/,
  ],
  [
    "a model that only /v1/responses has",
    (b) => ({ ...b, model: "gpt-5-pro" }),
    /only supported in v1\/responses/,
    404,
  ],
  [
    "a temperature while it reasons",
    (b) => ({ ...b, tools: undefined, reasoning_effort: "low", temperature: 0 }),
    /'temperature' does not support 0/,
  ],
  ["max_tokens of a model that reasons", (b) => ({ ...b, max_tokens: 9 }), /max_completion_tokens/],
])("the API of chat completions refuses %s", async (_, change, message, status = 400) => {
  await using fake = await startFakeOpenAI();
  const right = await post(fake, "/v1/chat/completions", chat);
  expect(right).toMatchObject({ status: 200 });
  const wrong = await post(fake, "/v1/chat/completions", change(chat));
  expect(wrong).toMatchObject({ status, text: expect.stringMatching(message) as string });
});

test("the API of chat completions accepts tools for gpt-5.4 without an effort, and for earlier models with one", async () => {
  await using fake = await startFakeOpenAI();
  for (const part of [
    { model: "gpt-5.4" },
    { model: "gpt-5.2", reasoning_effort: "high" },
    { model: "o3", reasoning_effort: "high" },
  ])
    expect(
      await post(fake, "/v1/chat/completions", { messages: [hi], tools: chatTools, ...part }),
    ).toMatchObject({ status: 200 });
});

const asked = {
  model: "gpt-5.6",
  input: [hi],
  tools,
  store: false,
  include: ["reasoning.encrypted_content"],
};

interface Item {
  type: string;
  id?: string;
  call_id?: string;
  encrypted_content?: string;
}

/** A conversation in which the model has called a tool, with what its server wants back. */
async function afterCall(fake: FakeOpenAI): Promise<{ input: Item[]; body: object }> {
  fake.rules.set([
    {
      name: "call",
      match: { role: "user" },
      reply: { reasoning: "Why.", tool_calls: [{ name: "add" }] },
    },
  ]);
  const first = await post(fake, "/v1/responses", asked);
  const { output } = JSON.parse(first.text) as { output: Item[] };
  const call = output.find(({ type }) => type === "function_call");
  const result = { type: "function_call_output", call_id: call?.call_id ?? "", output: "3" };
  const input = [hi as unknown as Item, ...output, result];
  return { input, body: { ...asked, input } };
}

const without = (items: readonly Item[], type: string) =>
  items.filter((item) => item.type !== type);
const changed = (items: readonly Item[], type: string, part: object) =>
  items.map((item) => (item.type === type ? { ...item, ...part } : item));

test.each<[string, (input: Item[]) => unknown[], RegExp, number?]>([
  [
    "a call without its reasoning",
    (i) => without(i, "reasoning"),
    /of type 'function_call' was provided without its required 'reasoning' item/,
  ],
  [
    "reasoning without what follows",
    (i) => without(without(i, "function_call"), "function_call_output"),
    /'reasoning' was provided without its required following item/,
  ],
  [
    "reasoning whose content is missing",
    (i) => changed(i, "reasoning", { encrypted_content: undefined }),
    /Items are not persisted/,
    404,
  ],
  [
    "reasoning whose content was changed",
    (i) => changed(i, "reasoning", { encrypted_content: "gAAAA.x.y" }),
    /invalid_encrypted_content/,
  ],
  [
    "a content that belongs to another item",
    (i) => changed(i, "reasoning", { id: "rs_r123" }),
    /invalid_encrypted_content/,
  ],
  [
    "a call without its output",
    (i) => without(i, "function_call_output"),
    /No tool output found for function call/,
  ],
  [
    "an output without its call",
    (i) => without(without(i, "function_call"), "reasoning"),
    /No tool call found/,
  ],
  [
    "input_text of the assistant",
    (i) => [...i, { role: "assistant", content: [{ type: "input_text", text: "a" }] }],
    /Invalid value: 'input_text'/,
  ],
  [
    "output_text of the user",
    (i) => [...i, { role: "user", content: [{ type: "output_text", text: "a" }] }],
    /Invalid value: 'output_text'/,
  ],
  ["a name of a message", (i) => [...i, { ...hi, name: "anna" }], /name/],
  [
    "chat completions' parts",
    (i) => [...i, { role: "user", content: [{ type: "text", text: "a" }] }],
    /Invalid value: 'text'/,
  ],
])("the Responses API refuses %s", async (_, change, message, status = 400) => {
  await using fake = await startFakeOpenAI();
  const { input, body } = await afterCall(fake);
  expect(await post(fake, "/v1/responses", body)).toMatchObject({ status: 200 });
  const wrong = await post(fake, "/v1/responses", { ...body, input: change(input) });
  expect(wrong).toMatchObject({ status, text: expect.stringMatching(message) as string });
});

test("the Responses API refuses the content of another account, and accepts calls without ids and reasoning", async () => {
  await using fake = await startFakeOpenAI();
  const { input, body } = await afterCall(fake);
  expect(await post(fake, "/v1/responses", body, "other")).toMatchObject({
    status: 400,
    text: expect.stringContaining("invalid_encrypted_content") as string,
  });
  const bare = changed(without(input, "reasoning"), "function_call", { id: undefined });
  expect(await post(fake, "/v1/responses", { ...body, input: bare }, "other")).toMatchObject({
    status: 200,
  });
});

test.each<[string, object, RegExp]>([
  ["an unknown field", { messages: [hi] }, /messages/],
  ["chat completions' effort", { reasoning_effort: "low" }, /reasoning_effort/],
  ["chat completions' limit", { max_completion_tokens: 100 }, /max_completion_tokens/],
  ["too small a limit", { max_output_tokens: 1 }, /max_output_tokens/],
  ["chat completions' tools", { tools: chatTools }, /tools/],
  ["no input", { input: [] }, /input/],
  [
    "a temperature while it reasons",
    { temperature: 1 },
    /'temperature' is not supported with this model/,
  ],
  [
    "an effort of a model that does not reason",
    { model: "gpt-4o", include: undefined, reasoning: { effort: "low" } },
    /'reasoning\.effort' is not supported/,
  ],
  [
    "a summary of a model that does not reason",
    { model: "gpt-4o", include: undefined, reasoning: { summary: "auto" } },
    /'reasoning\.summary' is not supported/,
  ],
  [
    "encrypted content of a model that does not reason",
    { model: "gpt-4o" },
    /Encrypted content is not supported/,
  ],
  [
    "a forced tool that is not given",
    { tool_choice: { type: "function", name: "sub" } },
    /'sub' not found/,
  ],
  [
    "a required tool without tools",
    { tools: [], tool_choice: "required" },
    /must be specified with 'tools'/,
  ],
  ["parameters without a type", { tools: [{ ...tools[0], parameters: {} }] }, /parameters/],
  [
    "a strict tool with an open schema",
    { tools: [{ ...tools[0], strict: true }] },
    /additionalProperties/,
  ],
  [
    "JSON without the word",
    { text: { format: { type: "json_object" } } },
    /must contain the word 'json'/,
  ],
  [
    "a response that was not stored",
    { previous_response_id: "resp_1" },
    /previous_response_not_found/,
  ],
])("the Responses API refuses %s", async (_, part, message) => {
  await using fake = await startFakeOpenAI();
  expect(await post(fake, "/v1/responses", asked)).toMatchObject({ status: 200 });
  const wrong = await post(fake, "/v1/responses", { ...asked, ...part });
  expect(wrong).toMatchObject({ status: 400, text: expect.stringMatching(message) as string });
});

test("a stored response can be continued, and one that was not stored is unknown", async () => {
  await using fake = await startFakeOpenAI();
  const ask = async (part: object) => {
    const answer = await post(fake, "/v1/responses", { ...asked, include: undefined, ...part });
    return { ...answer, id: (JSON.parse(answer.text) as { id: string }).id };
  };
  const kept = await ask({ store: true, input: "remember this" });
  expect(await ask({ previous_response_id: kept.id })).toMatchObject({ status: 200 });
  const lost = await ask({ store: false, input: "forget this" });
  expect(await ask({ previous_response_id: lost.id })).toMatchObject({ status: 400 });
});

test("Azure has both APIs, by the key header of its own", async () => {
  await using fake = await startFakeOpenAI({ apiKey: "azure" });
  const ask = async (path: string, body: object) => {
    const response = await fetch(fake.origin + path, {
      method: "POST",
      headers: { "content-type": "application/json", "api-key": "azure" },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  expect(await ask("/openai/v1/responses", asked)).toBe(200);
  expect(await ask("/openai/responses?api-version=2025-04-01-preview", asked)).toBe(200);
  expect(await ask("/openai/responses?api-version=2024-10-21", asked)).toBe(404);
  const deployment = "/openai/deployments/gpt-5.6/chat/completions?api-version=2024-10-21";
  expect(await ask(deployment, chat)).toBe(200);
  expect(await ask(deployment, { ...chat, reasoning_effort: "low" })).toBe(400);
});
