import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ChatMessage, Message } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { startEmbeddingServer } from "../support/embedding-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";
import { PATIENCE } from "../support/patience.ts";

// Agents that remember, in the Worker as it is deployed.

let worker: TestWorker;
let embeddings: Awaited<ReturnType<typeof startEmbeddingServer>>;

beforeAll(async () => {
  embeddings = await startEmbeddingServer(32);
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await embeddings[Symbol.asyncDispose]();
});

const model_info = {
  vision: false,
  function_calling: true,
  json_output: true,
  family: "unknown",
  structured_output: true,
};

const replay = (...chat_completions: unknown[]) => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: { chat_completions, model_info },
});

const toolCall = (name: string, args: object) => ({
  finish_reason: "function_calls",
  content: [{ id: "1", name, arguments: JSON.stringify(args) }],
  usage: { prompt_tokens: 10, completion_tokens: 5 },
  cached: false,
});

const facts = (...texts: string[]) => JSON.stringify({ facts: texts });

function agent(config: object): { provider: string; config: { [key: string]: unknown } } {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: { name: "helper", system_message: "Help.", ...config },
  };
}

const vectorMemory = (config: object) => ({ provider: "troupe.memory.VectorMemory", config });

async function json<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
  const response = await worker.fetch(path, body === undefined ? {} : jsonInit(body, method));
  return (await response.json()) as T;
}

async function create(id: string, component: object): Promise<{ notes?: { message: string }[] }> {
  return json("/v1/teams", { id, component });
}

async function runOf(team: string, task: string, user?: string): Promise<RunInfo> {
  const run = await json<RunInfo>(`/v1/teams/${team}/runs?wait=60`, {
    task,
    ...(user && { user }),
  });
  expect(run).toMatchObject({ status: "completed" });
  return run;
}

async function messagesOf(team: string): Promise<Message[]> {
  return (await json<{ messages: Message[] }>(`/v1/teams/${team}/messages`)).messages;
}

async function recalledBy(team: string): Promise<unknown[]> {
  return (await messagesOf(team)).flatMap((message) =>
    message.type === "MemoryQueryEvent" ? message.content.map(({ content }) => content) : [],
  );
}

test("facts that a team learns of its user are recalled in the user's other teams, and count", async () => {
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "embedder", api_key: "k", base_url: embeddings.url },
  };
  const learning = vectorMemory({
    scope: "user",
    embedding,
    extract: { model_client: replay(facts("Ada likes green tea.")) },
  });
  await create("learns", agent({ model_client: replay("Nice."), memory: [learning] }));
  const first = await runOf("learns", "I am Ada and like green tea.", "ada");
  expect(first.notes ?? []).toEqual([]);
  // The vectors of the question and of the fact.
  expect(first.models?.["embedder"]).toMatchObject({ completion_tokens: 0 });
  expect(first.models?.["embedder"]?.prompt_tokens).toBeGreaterThan(0);
  expect((await messagesOf("learns")).at(-1)).toMatchObject({ content: "Nice." });

  const reading = vectorMemory({ scope: "user", embedding });
  await create("reads", agent({ model_client: replay("A.", "B.", "C."), memory: [reading] }));
  await runOf("reads", "Which tea?", "ben");
  expect(await recalledBy("reads")).toEqual([]);
  const without = await runOf("reads", "Which tea?");
  expect(without.notes?.map(({ message }) => message)).toEqual([
    '"vector_memory" recalls and stores nothing: the run has no user',
  ]);
  await runOf("reads", "Which tea?", "ada");
  expect(await recalledBy("reads")).toEqual(["Ada likes green tea."]);
  const inputs = embeddings.requests.flatMap(({ input }) => input);
  expect(inputs.filter((text) => text === "Ada likes green tea.")).toHaveLength(1);
});

test("a fork has the memories of its team at its turn, and a fact is not learned twice", async () => {
  const memory = vectorMemory({
    extract: {
      model_client: replay(facts("Ada has a cat."), facts("Ada has a dog.", "Ada has a cat")),
    },
    k: 10,
  });
  await create(
    "grows",
    agent({ model_client: replay("One.", "Two.", "Three."), memory: [memory] }),
  );
  await runOf("grows", "I have a cat.");
  await runOf("grows", "I have a dog and a cat.");
  expect(
    (await worker.fetch("/v1/teams/grows/fork", jsonInit({ id: "forked", turn: 2 }))).status,
  ).toBe(201);
  for (const [team, known] of [
    ["grows", ["Ada has a cat", "Ada has a dog."]],
    ["forked", ["Ada has a cat."]],
  ] as const) {
    const before = await recalledBy(team);
    const component = agent({ model_client: replay("Yes."), memory: [vectorMemory({ k: 10 })] });
    await json(`/v1/teams/${team}/component`, { component }, "PUT");
    await runOf(team, "Ada has what?");
    const recalled = (await recalledBy(team)).slice(before.length);
    expect(new Set(recalled)).toEqual(new Set(known));
    expect(recalled).toHaveLength(known.length);
  }
});

test("an embedding server that is down leaves search by words, a note and the answer", async () => {
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: {
      model: "embedder",
      api_key: "k",
      base_url: `${embeddings.url}/nothing`,
      max_retries: 0,
    },
  };
  const memory = vectorMemory({ embedding, writable: true });
  const model_client = replay(toolCall("remember", { content: "The door is blue." }), "Blue.");
  await create("words", agent({ model_client, memory: [memory] }));
  await runOf("words", "Remember: the door is blue.");
  const run = await runOf("words", "What colour has the door?");
  expect(await recalledBy("words")).toEqual(["The door is blue."]);
  expect(run.notes).toMatchObject([
    { agent: "helper", message: expect.stringContaining("recalls by words only") as string },
  ]);
});

test("AutoGen's memories run on the team's memories, and their secrets are sealed", async () => {
  const memory = {
    provider: "autogen_ext.memory.redis_memory.RedisMemory",
    config: { redis_url: "redis://u:hidden@redis.example", sequential: true },
  };
  const created = await create(
    "redis",
    agent({ model_client: replay("Hi.", "Hi."), memory: [memory] }),
  );
  expect(JSON.stringify(created)).not.toContain("hidden");
  expect(created.notes?.map(({ message }) => message)).toContainEqual(
    expect.stringContaining("the contents are not in Redis"),
  );
  await runOf("redis", "Hello.");
  expect(await (await worker.fetch("/v1/teams/redis/component")).text()).not.toContain("hidden");
});

test("notes are in the state of the team, and a summary replaces older messages for the model only", async () => {
  const model_client = replay(
    toolCall("note_write", { name: "plan", text: "Tea." }),
    "Summary of before.",
    "Yes.",
  );
  const component = agent({
    model_client,
    memory: [{ provider: "troupe.memory.NotesMemory", config: {} }],
    model_context: {
      provider: "troupe.model_context.SummaryChatCompletionContext",
      config: { token_limit: 40, keep_last: 1 },
    },
  });
  await create("notes", component);
  await runOf("notes", `Make a plan. ${"It is long. ".repeat(10)}`);
  await runOf("notes", "Is the plan made?");
  const state = await json("/v1/teams/notes/state");
  expect(JSON.stringify(state)).toContain('"notes":{"plan":"Tea."}');
  expect(JSON.stringify(state)).toContain('"summary":{"text":"Summary of before."');
  expect((await messagesOf("notes")).map((message) => message.type)).toContain(
    "ToolCallSummaryMessage",
  );
  await worker.fetch("/v1/teams/notes/fork", jsonInit({ id: "unsummed", turn: 2 }));
  const earlier = await json("/v1/teams/unsummed/state");
  expect(JSON.stringify(earlier)).not.toContain("Summary of before.");
});

test("an answer cites its source documents", async () => {
  await json("/v1/collections/house", {}, "PUT");
  const document = {
    mime_type: "text/markdown",
    content: "# Rules\n\n## Pets\n\nCats are allowed.",
  };
  await json("/v1/collections/house/documents/rules.md", document, "PUT");
  const tool = { provider: "troupe.tools.SearchCollection", config: { collection: "house" } };
  const component = agent({
    model_client: replay(
      toolCall("search_house", { query: "cats allowed" }),
      "Cats may come.",
      "Yes.",
    ),
    tools: [tool],
    reflect_on_tool_use: true,
    memory: [{ provider: "troupe.memory.CollectionMemory", config: { collection: "house" } }],
  });
  await create("cites", component);
  const run = await runOf("cites", "Which pets?");
  expect(run.notes?.map(({ message }) => message)).toEqual([
    '"collection_memory": Words only: the collection has no embedding.',
    '"search_house": Words only: the collection has no embedding.',
  ]);
  const last = (await messagesOf("cites")).at(-1) as ChatMessage;
  expect(last).toMatchObject({ type: "TextMessage", content: "Cats may come." });
  expect(JSON.parse(last.metadata["citations"] ?? "")).toEqual([
    { collection: "house", document: "rules.md", chunk: 0, heading: "Rules > Pets", page: null },
  ]);
});

test("a question to a collection counts in the run that asks it, or in the collection", async () => {
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "embedder", api_key: "k", base_url: embeddings.url },
  };
  await json("/v1/collections/counted", { embedding }, "PUT");
  const document = { mime_type: "text/plain", content: "The bridge opens at nine." };
  await json("/v1/collections/counted/documents/bridge.txt", document, "PUT");
  const tokens = async (): Promise<number> => {
    const path = "/v1/collections/counted";
    const read = () => json<{ embedding_tokens: number; note: string | null }>(path);
    return (
      await vi.waitUntil(async () => {
        const { embedding_tokens, note } = await read();
        return note === null && { embedding_tokens };
      }, PATIENCE)
    ).embedding_tokens;
  };
  const ofDocument = await tokens();

  const memory = { provider: "troupe.memory.CollectionMemory", config: { collection: "counted" } };
  await create("counts", agent({ model_client: replay("At nine."), memory: [memory] }));
  const run = await runOf("counts", "When does the bridge open?");
  expect(run.models?.["embedder"]).toMatchObject({ prompt_tokens: 7, completion_tokens: 0 });
  expect(run.notes).toBeUndefined();
  expect(await tokens()).toBe(ofDocument);

  const search = { q: "Which bridge?" };
  expect(await json("/v1/collections/counted/search", search)).toMatchObject({
    mode: "hybrid",
    usage: { prompt_tokens: 4, completion_tokens: 0 },
  });
  expect(await tokens()).toBe(ofDocument + 4);
});

test("the last message reaches clients before the run learns from it, and a cancelled run learns nothing", async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume();
    asked.resolve(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const learner = {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model: "learner", api_key: "k", base_url: `http://127.0.0.1:${port}/v1`, model_info },
  };
  const memory = vectorMemory({ extract: { model_client: learner } });
  await create("held", agent({ model_client: replay("Nice.", "Nothing."), memory: [memory] }));
  const { id } = await json<RunInfo>("/v1/teams/held/runs", { task: "I have a cat." });
  const stream = await worker.fetch(`/v1/teams/held/runs/${id}/events`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes('"Nice."')) break;
  }
  const response = await asked.promise;
  expect(await json(`/v1/teams/held/runs/${id}`)).toMatchObject({ status: "running" });
  await json(`/v1/teams/held/runs/${id}/stop`, { mode: "now" });
  response.destroy();
  server.close();
  expect(await json(`/v1/teams/held/runs/${id}`)).toMatchObject({ status: "cancelled" });
  const component = agent({ model_client: replay("None."), memory: [vectorMemory({})] });
  await json("/v1/teams/held/component", { component }, "PUT");
  await runOf("held", "Which cat?");
  expect(await recalledBy("held")).toEqual([]);
});
