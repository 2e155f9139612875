import { describe, expect, test } from "vitest";
import {
  Catalog,
  ChatCompletionCache,
  ComponentRegistry,
  DiskCacheStore,
  InMemoryStore,
  ModelError,
  ReplayChatCompletionClient,
  callModel,
  coreComponents,
  dumpComponent,
  streamModel,
  type CacheStore,
} from "troupe";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  LLMMessage,
  StepCache,
} from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";

function asked(content: string): LLMMessage[] {
  return [{ content, source: "user", type: "UserMessage" }];
}

/** A host's cache: a map. */
function hostCache(): StepCache & { entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
  };
}

function streamed(
  client: ChatCompletionClient,
  messages: LLMMessage[],
): Promise<{ items: string[]; result?: CreateResult; error?: unknown }> {
  return outcome(client.createStream(messages));
}

describe("a cached request", () => {
  test("is answered without the client, with its recorded usage", async () => {
    const client = new ScriptedChatCompletionClient(["first", "second"]);
    const cache = new ChatCompletionCache(client);
    const result = await cache.create(asked("x"));
    expect(result).toMatchObject({ content: "first", cached: false });
    expect(await cache.create(asked("x"))).toMatchObject({
      ...result,
      cached: true,
      from_store: true,
    });
    expect((await cache.create(asked("y"))).content).toBe("second");
    expect(client.requests).toHaveLength(2);
    expect(cache.totalUsage()).toEqual({ prompt_tokens: 20, completion_tokens: 10 });
    client.assertDone();
  });

  test("streams as it did, or in one piece if it did not", async () => {
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient(["a b", "c d"]));
    expect(await streamed(cache, asked("x"))).toMatchObject({ items: ["a ", "b"] });
    expect(await streamed(cache, asked("x"))).toMatchObject({
      items: ["a ", "b"],
      result: { content: "a b", cached: true },
    });
    expect((await cache.create(asked("x"))).content).toBe("a b");
    await cache.create(asked("y"));
    expect(await streamed(cache, asked("y"))).toMatchObject({
      items: ["c d"],
      result: { content: "c d", cached: true },
    });
  });

  test("may be one for tools", async () => {
    const calls = [{ id: "1", name: "f", arguments: "{}" }];
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient([calls]));
    await cache.create(asked("x"));
    expect(await streamed(cache, asked("x"))).toMatchObject({
      items: [],
      result: { content: calls, finish_reason: "function_calls" },
    });
  });

  test.each<[string, CreateOptions]>([
    ["tools", { tools: [{ name: "f" }] }],
    ["choice of tools", { toolChoice: "none" }],
    ["output", { jsonOutput: true }],
    ["extra arguments", { extraCreateArgs: { seed: 1 } }],
  ])("is another with other %s", async (_, options) => {
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient(["first", "second"]));
    await cache.create(asked("x"));
    expect((await cache.create(asked("x"), options)).content).toBe("second");
    expect((await cache.create(asked("x"), options)).content).toBe("second");
  });

  test("is the same in any order of keys, attempt and key of the step", async () => {
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient(["first"]));
    await cache.create(asked("x"), { extraCreateArgs: { a: 1, b: { c: 2, d: 3 } } });
    const again = await cache.create([{ type: "UserMessage", source: "user", content: "x" }], {
      extraCreateArgs: { b: { d: 3, c: 2 }, a: 1 },
      idempotencyKey: "other",
      signal: new AbortController().signal,
    });
    expect(again.content).toBe("first");
  });

  test("differs for another client in the same store", async () => {
    const store = new InMemoryStore();
    const one = new ChatCompletionCache(new ReplayChatCompletionClient(["one"]), store);
    const two = new ChatCompletionCache(new ReplayChatCompletionClient(["two"]), store);
    expect((await one.create(asked("x"))).content).toBe("one");
    expect((await two.create(asked("x"))).content).toBe("two");
    const oneAgain = new ChatCompletionCache(new ReplayChatCompletionClient(["one"]), store);
    expect((await oneAgain.create(asked("x"))).content).toBe("one");
  });

  test("that failed, or whose stream was left, is asked again", async () => {
    const cache = new ChatCompletionCache(
      new ScriptedChatCompletionClient([new ModelError("auth", "no"), "a b", "c"]),
    );
    await expect(cache.create(asked("x"))).rejects.toThrow("no");
    for await (const piece of cache.createStream(asked("x"))) {
      expect(piece).toBe("a ");
      break;
    }
    expect((await cache.create(asked("x"))).content).toBe("c");
  });

  test("is asked again when its entry cannot be read", async () => {
    const host = hostCache();
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient(["first", "second"]));
    await cache.create(asked("x"), { cache: host });
    for (const key of host.entries.keys()) host.entries.set(key, '{"result": 1}');
    expect((await cache.create(asked("x"), { cache: host })).content).toBe("second");
  });
});

describe("a cached turn that runs again", () => {
  test("moves the inner client on for its own replies only", async () => {
    const journal = new RecordingHost();
    journal.cache = hostCache();
    const turn = async (): Promise<[unknown[], unknown]> => {
      const client = new ReplayChatCompletionClient(["one", "two", "three"]);
      const cache = new ChatCompletionCache(client);
      const ctx = journal.attempt();
      const contents = [];
      for (const [index, content] of ["x", "x", "y"].entries()) {
        contents.push((await callModel(ctx, `model:${index}`, cache, asked(content))).content);
      }
      contents.push(
        (await outcome(streamModel(ctx, "model:3", cache, asked("y")))).result?.content,
      );
      contents.push((await client.create(asked("z"))).content);
      return [contents, new StateTree(cache).paths];
    };
    const first = await turn();
    expect(first).toEqual([["one", "one", "two", "two", "three"], new Set(["model_client"])]);
    expect(await turn()).toEqual(first);
  });

  test("keeps nothing of a step whose result was not recorded", async () => {
    const journal = new RecordingHost();
    const host = hostCache();
    journal.cache = host;
    const cache = new ChatCompletionCache(new ScriptedChatCompletionClient(["lost", "kept"]));
    const during = journal.attempt({ during: "model:0" });
    await expect(callModel(during, "model:0", cache, asked("x"))).rejects.toMatchObject({
      kind: "superseded",
    });
    expect(host.entries.size).toBe(0);
    const result = await callModel(journal.attempt(), "model:0", cache, asked("x"));
    expect(result.content).toBe("kept");
    expect(host.entries.size).toBe(1);
  });
});

describe("a store", () => {
  test.each<[string, (options: { maxEntries?: number; maxEntryBytes?: number }) => CacheStore]>([
    ["in memory", (options) => new InMemoryStore(options)],
    ["on disk, by name", (options) => new DiskCacheStore({ directory: "/tmp/x", ...options })],
  ])("that is %s keeps the last results that are not too long", (_, make) => {
    const store = make({ maxEntries: 2, maxEntryBytes: 4 });
    for (const [key, value] of Object.entries({ a: "1", b: "2", c: "3", d: "fünf" })) {
      store.set(key, value);
    }
    store.set("b", "4");
    store.set("e", "5");
    expect(["a", "b", "c", "d", "e"].map((key) => store.get(key))).toEqual([
      undefined,
      "4",
      undefined,
      undefined,
      "5",
    ]);
  });

  test("may have a host that keeps entries itself", () => {
    const host = hostCache();
    const store = new InMemoryStore();
    store.set("a", "1", host);
    expect([store.get("a"), store.get("a", host)]).toEqual([undefined, "1"]);
  });
});

describe("component JSON", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const client = dumpComponent(new ReplayChatCompletionClient(["hi"]));

  test.each([
    ["no store", {}],
    ["a disk", { provider: "autogen_ext.cache_store.diskcache.DiskCacheStore", directory: "/tmp" }],
    [
      "Redis",
      {
        provider: "autogen_ext.cache_store.redis.RedisStore",
        host: "localhost",
        port: 6379,
        db: 0,
        password: "secret",
        ssl: false,
      },
    ],
    ["a size", { provider: "autogen_core.InMemoryStore", max_entries: 5 }],
  ])(
    "that has %s is dumped as it was loaded",
    (_, { provider, ...config }: { provider?: string }) => {
      const model = {
        provider: "autogen_ext.models.cache.ChatCompletionCache",
        component_type: "chat_completion_cache",
        version: 1,
        component_version: 1,
        config: {
          client,
          ...(provider !== undefined && {
            store: {
              provider,
              component_type: "cache_store",
              version: 1,
              component_version: 1,
              config,
            },
          }),
        },
      };
      expect(dumpComponent(registry.load<ChatCompletionCache>(model, "model"))).toEqual(model);
    },
  );

  test("leaves out AutoGen's default store", () => {
    const cache = new ChatCompletionCache(
      new ReplayChatCompletionClient(["hi"]),
      new InMemoryStore(),
    );
    expect(cache.toConfig()).toEqual({ client });
  });

  test("may not contain a model as a store", () => {
    const model = { provider: "ChatCompletionCache", config: { client, store: client } };
    expect(registry.validate(model, "model")).toMatchObject([
      { path: "component.config.store.provider" },
    ]);
  });
});
