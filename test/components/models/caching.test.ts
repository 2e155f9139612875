import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  AnthropicChatCompletionClient,
  AssistantAgent,
  type ChatCompletionClient,
  FunctionTool,
  ListMemory,
  OpenAIChatCompletionClient,
  run,
  type TokenUsage,
  WindowChatCompletionContext,
} from "troupe";
import * as z from "zod";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";

const RULES: readonly RuleInput[] = [
  {
    name: "result",
    match: { role: "tool" },
    reply: { content: "The result is there. ".repeat(8) },
  },
  {
    name: "call",
    match: { text: "Look it up" },
    reply: { tool_calls: [{ name: "tool_3", arguments: { query: "weather" } }] },
  },
  { name: "say", reply: { content: "A sentence of an answer. ".repeat(8) } },
];

let fake: FakeOpenAI;
let now = 0;

beforeAll(async () => {
  fake = await startFakeOpenAI({
    caches: { now: () => (now += 1000) },
    rules: [...RULES],
  });
});

beforeEach(() => {
  // The caches of the test before are gone.
  now += 7_200_000;
});

afterAll(async () => {
  await fake.close();
});

const tools = Array.from(
  { length: 10 },
  (_, index) =>
    new FunctionTool({
      name: `tool_${index}`,
      description: `Searches the archive of kind ${index}. ${"It takes a query in plain words. ".repeat(8)}`,
      parameters: z.object({ query: z.string() }),
      execute: () => Promise.resolve("Sunny, 20 degrees. ".repeat(4)),
    }),
);

const gpt = (model = "gpt-4o") =>
  new OpenAIChatCompletionClient({ model, baseURL: fake.url, apiKey: "key" });
const claude = (options: object = {}) =>
  new AnthropicChatCompletionClient({
    model: "claude-sonnet-4-5",
    baseURL: fake.origin,
    apiKey: "key",
    ...options,
  });

interface Spent extends TokenUsage {
  /** Percent of all prompt tokens. */
  read: number;
}

/** What a conversation costs: every third turn calls a tool. */
async function converse(
  modelClient: ChatCompletionClient,
  turns: number,
  options: object = {},
): Promise<Spent> {
  const total = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cache_write_tokens: 0 };
  const counting = counted(modelClient, (usage) => {
    total.prompt_tokens += usage.prompt_tokens;
    total.cached_tokens += usage.cached_tokens ?? 0;
    total.cache_write_tokens += usage.cache_write_tokens ?? 0;
  });
  const agent = new AssistantAgent({
    name: "helper",
    modelClient: counting,
    tools,
    reflectOnToolUse: true,
    systemMessage: "You are a helper of the archive. ".repeat(20),
    ...options,
  });
  for (let turn = 0; turn < turns; turn++) {
    const task = turn % 3 === 0 ? `Look it up: ${turn}.` : `Tell me more about ${turn}.`;
    await run(agent, { task });
  }
  return { ...total, read: (100 * total.cached_tokens) / total.prompt_tokens };
}

function counted(
  client: ChatCompletionClient,
  count: (usage: TokenUsage) => void,
): ChatCompletionClient {
  const create: ChatCompletionClient["create"] = async (messages, options) => {
    const result = await client.create(messages, options);
    count({ ...result.usage, ...result.usage_details });
    return result;
  };
  return new Proxy(client, {
    get: (target, name) =>
      name === "create" ? create : (Reflect.get(target, name, target) as unknown),
  });
}

describe("the cache supplies at least 90 % of the input of 50 turns with 10 tools", () => {
  test("if the models are OpenAI's", async () => {
    expect((await converse(gpt(), 50)).read).toBeGreaterThan(90);
  });

  test("if the models use the Responses API", async () => {
    const client = new OpenAIChatCompletionClient({
      model: "gpt-5.6",
      baseURL: fake.url,
      apiKey: "key",
      api: "responses",
    });
    expect((await converse(client, 50)).read).toBeGreaterThan(90);
  });

  test("if the model is Claude", async () => {
    const { read, cache_write_tokens = 0, prompt_tokens } = await converse(claude(), 50);
    expect(read).toBeGreaterThan(90);
    expect(cache_write_tokens / prompt_tokens).toBeLessThan(0.1);
  });

  test("if Claude makes thirty calls in one answer", async () => {
    const calls = Array.from({ length: 30 }, (_, index) => ({
      name: `tool_${index % 10}`,
      arguments: { query: `weather ${index}` },
    }));
    const reply = { tool_calls: calls };
    fake.rules.set([{ name: "many", match: { text: "Look it up" }, reply }, ...RULES]);
    try {
      expect((await converse(claude(), 20)).read).toBeGreaterThan(80);
    } finally {
      fake.rules.set([...RULES]);
    }
  });

  test("if the context has a window, and not if its buffer moves at every turn", async () => {
    const window = () => new WindowChatCompletionContext({ high: 6000, low: 3000 });
    expect((await converse(claude(), 50, { modelContext: window() })).read).toBeGreaterThan(80);
    expect((await converse(gpt(), 50, { modelContext: window() })).read).toBeGreaterThan(80);
  });
});

test("the tools stay in Claude's cache when a memory adds to the system message", async () => {
  const memory = new ListMemory(null, [
    { content: "The user likes rain.", mime_type: "text/plain", metadata: null },
  ]);
  expect((await converse(claude(), 10, { memory: [memory] })).cached_tokens).toBeGreaterThan(5000);
});

test("a config with cache: off marks nothing", async () => {
  const { cached_tokens, cache_write_tokens } = await converse(claude({ cache: "off" }), 4);
  expect([cached_tokens, cache_write_tokens]).toEqual([0, 0]);
  expect(JSON.stringify(fake.requests.at(-1)?.body)).not.toContain("cache_control");
});

test("a caller who marks the end of the prompt keeps that mark alone", async () => {
  await converse(claude({ cacheControl: { type: "ephemeral", ttl: "1h" } }), 1);
  const body = JSON.stringify(fake.requests.at(-1)?.body);
  expect(body.split('"cache_control"')).toHaveLength(2);
});

test("a prompt_cache_key goes to OpenAI's own servers only", async () => {
  const bodies: { [name: string]: unknown }[] = [];
  const answer = { choices: [{ message: { content: "Yes." }, finish_reason: "stop" }] };
  const record: typeof fetch = async (input, init) => {
    bodies.push((await new Request(input, init).json()) as (typeof bodies)[number]);
    return Response.json(answer);
  };
  const asked = async (options: object) => {
    const client = new OpenAIChatCompletionClient(
      { model: "gpt-4o", apiKey: "key", ...options },
      { fetch: record },
    );
    await run(new AssistantAgent({ name: "a", modelClient: client }), { task: "Say yes." });
    return bodies.at(-1)?.["prompt_cache_key"];
  };
  const key = await asked({});
  expect(key).toMatch(/^[0-9a-f-]{36}$/);
  expect(await asked({})).toBe(key);
  expect(await asked({ cache: "off" })).toBeUndefined();
  expect(await asked({ baseURL: "https://models.example.com/v1" })).toBeUndefined();
});
