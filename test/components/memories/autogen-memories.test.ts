import { expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ChromaDBVectorMemory,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  type Memory,
  type MemoryQueryEvent,
  memoryComponents,
  type Message,
  RedisMemory,
  run,
} from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { Model } from "../../core/support/model.ts";
import { startEmbeddingServer } from "../../support/embedding-server.ts";

const registry = new ComponentRegistry().register(
  ...coreComponents(new Catalog()),
  ...memoryComponents(),
);

const text = (content: string) => ({
  content,
  mime_type: "text/plain",
  metadata: { kind: "fact" },
});

/** JSON as AutoGen dumps it. */
function component(provider: string, config: object) {
  return {
    provider: `autogen_ext.memory.${provider}`,
    component_type: "memory",
    version: 1,
    component_version: 1,
    config,
  };
}

const CHROMA = {
  client_type: "http",
  collection_name: "preferences",
  distance_metric: "cosine",
  k: 2,
  score_threshold: 0.4,
  allow_reset: false,
  tenant: "default_tenant",
  database: "default_database",
  embedding_function_config: {
    function_type: "sentence_transformer",
    model_name: "all-MiniLM-L6-v2",
  },
  host: "chroma.example",
  port: 8000,
  ssl: true,
  headers: { "x-token": "env:CHROMA" },
};

const REDIS = {
  redis_url: "redis://localhost:6379",
  index_name: "chat_history",
  prefix: "memory",
  sequential: false,
  distance_metric: "cosine",
  algorithm: "flat",
  top_k: 10,
  datatype: "float32",
  distance_threshold: 0.7,
  model_name: "sentence-transformers/all-mpnet-base-v2",
};

const MEM0 = { user_id: "user123", limit: 10, is_cloud: false, config: { path: ":memory:" } };

test.each([
  ["chromadb.ChromaDBVectorMemory", CHROMA],
  [
    "chromadb.ChromaDBVectorMemory",
    {
      ...CHROMA,
      client_type: "persistent",
      persistence_path: "./db",
      embedding_function_config: { function_type: "custom", params: { size: 3 } },
    },
  ],
  ["redis_memory.RedisMemory", REDIS],
  ["mem0.Mem0Memory", MEM0],
])(
  "%s is loaded as AutoGen dumps it, dumped unchanged, and names where its contents are",
  (provider, config) => {
    const model = component(provider, config);
    expect(dumpComponent(registry.load(model, "memory"))).toEqual(model);
    expect(registry.notes(model)[0]?.message).toMatch(/^has no effect: the contents are not in /);
  },
);

test("other names load too, and bad configs name the field", () => {
  const other = component("redis.RedisMemory", REDIS);
  expect(dumpComponent(registry.load(other, "memory"))).toEqual(
    component("redis_memory.RedisMemory", REDIS),
  );
  expect(
    registry.load({ ...other, provider: "ChromaDBVectorMemory", config: {} }, "memory"),
  ).toBeInstanceOf(ChromaDBVectorMemory);
  const paths = (provider: string, config: object) =>
    registry.validate(component(provider, config)).map(({ path }) => path);
  expect(paths("chromadb.ChromaDBVectorMemory", { k: 0, client_type: "disk" })).toEqual([
    "component.config.client_type",
    "component.config.k",
  ]);
  expect(paths("redis.RedisMemory", { top_k: "many", algorithm: "tree" })).toEqual([
    "component.config.algorithm",
    "component.config.top_k",
  ]);
  expect(paths("mem0.Mem0Memory", { is_cloud: false })).toEqual(["component.config.config"]);
});

function queried(messages: readonly Message[]): MemoryQueryEvent["content"] {
  return messages.flatMap((message) =>
    message.type === "MemoryQueryEvent" ? message.content : [],
  );
}

/** Adds contents in a turn of the agent that has the memory, and asks it. */
async function ask(memory: Memory, contents: readonly string[], task: string, user?: string) {
  const adding = new AssistantAgent({
    name: "agent",
    modelClient: new Model("Yes."),
    memory: [memory],
  });
  const begun = adding.onMessagesStream.bind(adding);
  adding.onMessagesStream = async function* (messages, ctx) {
    for (const content of contents) await memory.add(text(content), ctx);
    return yield* begun(messages, ctx);
  };
  return run(adding, { task, ...(user !== undefined && { user }) });
}

test("a memory that compares words only applies no thresholds, and notes say both", async () => {
  const memory = registry.load<Memory>(
    component("chromadb.ChromaDBVectorMemory", CHROMA),
    "memory",
  );
  const { messages, notes } = await ask(
    memory,
    ["The user likes Celsius.", "Meals are vegan."],
    "Celsius?",
  );
  expect(queried(messages)).toMatchObject([
    {
      content: "The user likes Celsius.",
      metadata: { kind: "fact", id: expect.any(String) as string },
    },
  ]);
  expect(notes).toEqual([
    '"chromadb_vector_memory" has no embedding client and recalls by words only',
    '"chromadb_vector_memory" compares no meanings, so its threshold does not apply',
  ]);
});

test("Chroma's score is 1 - distance / 2, and its threshold is a least score", async () => {
  await using server = await startEmbeddingServer(32);
  const dependencies = { env: (name: string) => (name === "OPENAI_BASE_URL" ? server.url : "key") };
  const memory = new ChromaDBVectorMemory(
    {
      scoreThreshold: 0.9,
      k: 5,
      embeddingFunctionConfig: { functionType: "openai", modelName: "embedder", apiKey: "k" },
    },
    dependencies,
  );
  const { messages, notes } = await ask(memory, ["aaab", "zzzy"], "aaab");
  expect(queried(messages)).toMatchObject([
    { content: "aaab", metadata: { score: expect.closeTo(1) as number } },
  ]);
  expect(notes).toEqual([]);
});

test("a sequential Redis memory returns the latest, newest first", async () => {
  const memory = new RedisMemory({ sequential: true, topK: 2 });
  const { messages, notes } = await ask(memory, ["one", "two", "three"], "unrelated");
  expect(queried(messages).map(({ content }) => content)).toEqual(["three", "two"]);
  expect(notes).toEqual([]);
});

test("Mem0's user id selects the memories of the run's user, or those of the team without a user", async () => {
  const memory = () => registry.load<Memory>(component("mem0.Mem0Memory", MEM0), "memory");
  await ask(memory(), ["Ada likes tea."], "Tea?", "autogen-ada");
  const own = await ask(memory(), [], "Tea?", "autogen-ada");
  expect(queried(own.messages)).toMatchObject([{ content: "Ada likes tea." }]);
  const other = await ask(memory(), [], "Tea?", "autogen-bob");
  expect(queried(other.messages)).toEqual([]);
  const team = await ask(memory(), ["The team likes tea."], "Tea?");
  expect(queried(team.messages)).toMatchObject([{ content: "The team likes tea." }]);
  expect(team.notes).toContain('"mem0_memory" uses the memories of the team: the run has no user');
});

test("a note explains Mem0's user id", () => {
  const notesOf = (config: object) => registry.notes(component("mem0.Mem0Memory", config));
  expect(notesOf(MEM0)).toContainEqual({
    path: "component.config.user_id",
    message:
      "is not read: the memories are those of the run's user, and in runs without a user those of the team",
  });
  const { user_id: _, ...without } = MEM0;
  expect(notesOf(without).map(({ path }) => path)).toEqual(["component.config.is_cloud"]);
});

test("clearing removes the contents, and pictures are refused", async () => {
  const memory = new RedisMemory({ sequential: true });
  const ctx = TurnScope.root(new InMemoryHost({}).turn(0));
  await memory.add(text("one"), ctx);
  expect(await memory.query("x", ctx)).toHaveLength(1);
  await memory.clear(ctx);
  expect(await memory.query("x", ctx)).toEqual([]);
  await expect(memory.add({ ...text(""), content: { data: "iVBORw0KGgo=" } }, ctx)).rejects.toThrow(
    "is a picture",
  );
});
