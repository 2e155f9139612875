import { expect, test } from "vitest";
import { ProcessMemory } from "#core/memory/process-memory.ts";
import type { MemoryChange, MemoryStore } from "#core/memory/memory-host.ts";

function memoryOf(subject: object, user?: string) {
  return new ProcessMemory({ subject, user, run: "run" });
}

function put(id: string, text: string, values?: number[]): MemoryChange {
  return {
    op: "put",
    id,
    content: { content: text, mime_type: "text/plain", metadata: null },
    collection: null,
    message: null,
    ...(values && { embedding: { space: "s", values } }),
  };
}

async function found(store: MemoryStore, text: string, values?: number[]): Promise<string[]> {
  const embedding = values && { space: "s", values };
  const { hits } = await store.recall({ text, k: 10, collection: null, embedding });
  return hits.map(({ entry }) => entry.id);
}

test("a turn reads its own writes, and they vanish unless the turn is committed", async () => {
  const memory = memoryOf({});
  const given = memory.turn(0).store("team") as MemoryStore;
  given.write(put("a", "The user likes tea."));
  expect(await found(given, "tea")).toEqual(["a"]);
  const again = memory.turn(0).store("team") as MemoryStore;
  expect(await found(again, "tea")).toEqual([]);
  again.write(put("b", "The user likes coffee."));
  memory.commit();
  expect(await found(memory.turn(1).store("team") as MemoryStore, "coffee")).toEqual(["b"]);
});

test("teams, users and the tenant have memories of their own", async () => {
  const team = {};
  const first = memoryOf(team, "process-memory-ada");
  const host = first.turn(0);
  host.store("team")?.write(put("of-team", "tea"));
  host.store("user")?.write(put("of-user", "tea"));
  first.commit();
  const sameUser = memoryOf({}, "process-memory-ada").turn(0);
  expect(await found(sameUser.store("team") as MemoryStore, "tea")).toEqual([]);
  expect(await found(sameUser.store("user") as MemoryStore, "tea")).toEqual(["of-user"]);
  expect(memoryOf(team).turn(0).store("user")).toBeUndefined();
});

test("words and meaning are merged by reciprocal rank, and only vectors of one space are compared", async () => {
  const store = memoryOf({}).turn(0).store("team") as MemoryStore;
  store.write(put("words", "boats on the river", [0, 1]));
  store.write(put("both", "boats in the harbour", [1, 0]));
  store.write(put("meaning", "ships", [0.9, 0.1]));
  store.write(put("without", "boats"));
  const ids = await found(store, "boats harbour", [1, 0]);
  expect(ids[0]).toBe("both");
  expect(new Set(ids)).toEqual(new Set(["words", "both", "meaning", "without"]));
  const { hits, mode } = await store.recall({
    text: "boats",
    k: 1,
    collection: null,
    embedding: { space: "other", values: [1, 0] },
  });
  expect(mode).toBe("words");
  expect(hits[0]?.similarity).toBeNull();
});

test("words of languages without spaces are found", async () => {
  const store = memoryOf({}).turn(0).store("team") as MemoryStore;
  store.write(put("ja", "東京の天気は晴れです。"));
  store.write(put("zh", "用户喜欢喝绿茶。"));
  expect(await found(store, "天気はどうですか")).toEqual(["ja"]);
  expect(await found(store, "绿茶")).toEqual(["zh"]);
});

test("the latest come newest first, a filter and a collection narrow the search", async () => {
  const store = memoryOf({}).turn(0).store("team") as MemoryStore;
  store.write({ ...put("one", "tea"), collection: "drinks" } as MemoryChange);
  store.write({ ...put("two", "tea"), collection: "plants" } as MemoryChange);
  store.write(put("three", "tea"));
  const { hits } = await store.recall({ text: "", k: 2, collection: "drinks", order: "latest" });
  expect(hits.map(({ entry }) => entry.id)).toEqual(["three", "one"]);
  store.write({ op: "clear", collection: "drinks" });
  store.write({ op: "forget", id: "three" });
  expect(await found(store, "tea")).toEqual(["two"]);
  expect(await store.get(["two", "one"])).toMatchObject([{ id: "two" }, null]);
});
