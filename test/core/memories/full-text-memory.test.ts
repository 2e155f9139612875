import { describe, expect, test } from "vitest";
import {
  FullTextMemory,
  ListMemory,
  StateError,
  UnboundedChatCompletionContext,
  ValueError,
  type FullTextMemoryOptions,
  type FullTextQueryOptions,
} from "troupe";
import type { LLMMessage, MemoryContent } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { StateTree } from "#core/state/state-tree.ts";

const ctx = TurnScope.root(new InMemoryHost({}).turn(0));

function text(content: string, metadata: MemoryContent["metadata"] = null): MemoryContent {
  return { content, mime_type: "text/plain", metadata };
}

const FACTS = [
  text("The user prefers temperatures in Celsius.", { category: "preferences", tags: ["units"] }),
  text("Recipes have to be vegan.", { category: "preferences", tags: ["food", "diet"] }),
  text("The user lives in Reykjavík.", { category: "facts" }),
  text("Meetings take place on Mondays.", { category: "facts", regular: true }),
  text("Invoices are sent on the last day of a month.", { category: "facts" }),
];

function memory(options: FullTextMemoryOptions = {}): FullTextMemory {
  return new FullTextMemory({ contents: FACTS, ...options });
}

async function found(
  store: FullTextMemory,
  query: string,
  options?: FullTextQueryOptions,
): Promise<unknown[]> {
  return (await store.query(query, ctx, options)).map(({ content }) => content);
}

describe("a query", () => {
  test("finds by stems, best match first, whatever the case", async () => {
    expect(await found(memory(), "Which temperature does the user PREFER?")).toEqual([
      FACTS[0]?.content,
      FACTS[2]?.content,
      FACTS[4]?.content,
    ]);
  });

  test("finds words with accents and without", async () => {
    expect(await found(memory(), "reykjavik?")).toEqual([FACTS[2]?.content]);
    expect(await found(memory(), "REYKJAVÍK")).toEqual([FACTS[2]?.content]);
  });

  test("adds the score to the metadata of its results, not to the stored entries", async () => {
    const store = memory();
    const [result] = await store.query("vegan", ctx);
    expect(result).toEqual({
      ...FACTS[1],
      metadata: { ...FACTS[1]?.metadata, score: expect.any(Number) },
    });
    expect(store.saveState()).toEqual({ memory_contents: FACTS });
  });

  test("returns at most k, and nothing below the threshold", async () => {
    expect(await found(memory({ k: 1 }), "user vegan")).toEqual([FACTS[1]?.content]);
    expect(await found(memory(), "user vegan", { k: 2 })).toHaveLength(2);
    expect(() => memory({ k: 0 })).toThrow(ValueError);
    await expect(memory().query("user", ctx, { k: 0.5 })).rejects.toThrow(ValueError);
    expect(await found(memory({ scoreThreshold: 1 }), "user vegan")).toEqual([FACTS[1]?.content]);
    expect(
      await found(memory({ scoreThreshold: 1 }), "user vegan", { scoreThreshold: null }),
    ).toHaveLength(3);
  });

  test.each<[FullTextQueryOptions["filter"], number[]]>([
    [{ category: "facts" }, [2]],
    [{ category: ["facts", "preferences"] }, [0, 2]],
    [{ tags: "units" }, [0]],
    [{ tags: ["diet", "units"], category: "preferences" }, [0]],
    [{ regular: true }, []],
    [{ constructor: "x" }, []],
    [{}, [0, 2]],
  ])("keeps to the filter %j", async (filter, expected) => {
    const contents = expected.map((index) => FACTS[index]?.content);
    expect(new Set(await found(memory(), "user", { filter: filter ?? null }))).toEqual(
      new Set(contents),
    );
  });

  test("may be a memory content, and objects are found by keys and values", async () => {
    const store = memory({ contents: [] });
    const json: MemoryContent = {
      content: { city: "Oslo", notes: ["first\nsecond", { deep: 7 }] },
      mime_type: "application/json",
      metadata: null,
    };
    await store.add(json, ctx);
    for (const query of ["oslo", "CITY", "second", "7", "deep"]) {
      expect(await found(store, query)).toEqual([json.content]);
    }
    expect(await store.query(json, ctx)).toHaveLength(1);
  });

  test.each(["", "  ", "?!", "🙂", '"', "zzz"])(
    "that has no known words (%j) finds nothing",
    async (query) => {
      expect(await found(memory(), query)).toEqual([]);
    },
  );

  test("splits words without spaces into trigrams", async () => {
    const store = new FullTextMemory({ tokenizer: "trigram" });
    await store.add(text("我喜欢喝绿茶和咖啡"), ctx);
    await store.add(text("会议在星期一举行"), ctx);
    expect(await found(store, "你喜欢喝什么")).toEqual(["我喜欢喝绿茶和咖啡"]);
    expect(await found(store, "星期一")).toEqual(["会议在星期一举行"]);
  });

  test("uses words unchanged with unicode61", async () => {
    const store = memory({ tokenizer: "unicode61" });
    expect(await found(store, "temperature")).toEqual([]);
    expect(await found(store, "temperatures")).toEqual([FACTS[0]?.content]);
  });
});

describe("the model context", () => {
  async function updated(...messages: LLMMessage[]): Promise<[MemoryContent[], unknown]> {
    const context = new UnboundedChatCompletionContext(messages);
    const results = await memory().updateContext(context, ctx);
    return [results, (await context.getMessages()).slice(messages.length)];
  }

  test("gets one system message for the last message", async () => {
    const [results, added] = await updated(
      { type: "UserMessage", source: "user", content: "Where do I live?" },
      { type: "UserMessage", source: "user", content: "And what about vegan recipes on Mondays?" },
    );
    expect(results.map(({ content }) => content)).toEqual([
      FACTS[1]?.content,
      FACTS[3]?.content,
      FACTS[4]?.content,
    ]);
    expect(added).toEqual([
      {
        type: "SystemMessage",
        content:
          "\nRelevant memory content (best match first):\n1. Recipes have to be vegan.\n2. Meetings take place on Mondays.\n3. Invoices are sent on the last day of a month.\n",
      },
    ]);
  });

  test("gets nothing when nothing is found, or nothing was said", async () => {
    expect(await updated({ type: "UserMessage", source: "user", content: "zzz" })).toEqual([
      [],
      [],
    ]);
    expect(await updated()).toEqual([[], []]);
  });

  test("is not searched with the entries of another memory", async () => {
    const context = new UnboundedChatCompletionContext();
    context.addMessage({ type: "UserMessage", source: "user", content: "vegan" });
    await new ListMemory("list", [text("Mondays")]).updateContext(context);
    const results = await memory().updateContext(context, ctx);
    expect(results.map(({ content }) => content)).toEqual([FACTS[1]?.content]);
  });

  test.each<[string, LLMMessage[]]>([
    [
      "parts",
      [{ type: "UserMessage", source: "user", content: ["Is it", { data: "AA" }, "vegan"] }],
    ],
    [
      "a result",
      [
        {
          type: "AssistantMessage",
          source: "a",
          thought: null,
          content: [{ id: "1", name: "cook", arguments: "{}" }],
        },
        {
          type: "FunctionExecutionResultMessage",
          content: [{ call_id: "1", name: "cook", content: "a vegan stew", is_error: false }],
        },
      ],
    ],
  ])("is searched with the words of a message with %s", async (_kind, messages) => {
    const [results] = await updated(...messages);
    expect(results.map(({ content }) => content)).toContain(FACTS[1]?.content);
  });
});

describe("an entry of the memory", () => {
  test("is found as soon as it is added, until the memory is cleared", async () => {
    const store = memory();
    await store.add(text("The user has a cat."), ctx);
    expect(await found(store, "cat")).toEqual(["The user has a cat."]);
    await store.clear(ctx);
    expect(await found(store, "cat vegan")).toEqual([]);
    await store.add(text("The user has a dog."), ctx);
    expect(await found(store, "cat dog")).toEqual(["The user has a dog."]);
  });

  test("disappears with a turn that is given up", async () => {
    const store = memory();
    const tree = new StateTree(store);
    await store.add(text("The user has a cat."), ctx);
    tree.rollback();
    expect(await found(store, "cat")).toEqual([]);
    expect(store.saveState()).toEqual({ memory_contents: FACTS });
    tree.mark();
    await store.clear(ctx);
    tree.rollback();
    expect(await found(store, "vegan")).toEqual([FACTS[1]?.content]);
  });

  test("is state that another memory loads", async () => {
    const store = memory();
    await store.add(text("The user has a cat."), ctx);
    const other = memory({ contents: [text("replaced")] });
    other.loadState(store.saveState());
    expect(await found(other, "cat replaced")).toEqual(["The user has a cat."]);
    const list = new ListMemory();
    list.loadState(other.saveState());
    expect(await list.query()).toHaveLength(FACTS.length + 1);
  });

  test("stays when a state does not fit", async () => {
    const store = memory();
    expect(() => store.loadState({ memory_contents: [{}] })).toThrow(StateError);
    expect(await found(store, "vegan")).toEqual([FACTS[1]?.content]);
  });

  test("cannot be an image", async () => {
    const picture: MemoryContent = {
      content: {
        data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      },
      mime_type: "image/png",
      metadata: null,
    };
    await expect(memory().add(picture, ctx)).rejects.toThrow(ValueError);
    expect(() => memory({ contents: [text("x"), picture] })).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining({ path: "memory_contents[1]" })],
      }),
    );
  });
});
