import { describe, expect, test } from "vitest";
import type { LogChanges } from "#core/state/item-log.ts";
import { SearchableLog } from "#core/state/searchable-log.ts";

interface Asked {
  query: string;
  changes: LogChanges<string> | undefined;
}

/** A log of a thousand stored items, and a host that finds all of them, the last first, 50 at a time. */
function restored(): { log: SearchableLog<string>; asked: Asked[]; read: number[] } {
  const asked: Asked[] = [];
  const read: number[] = [];
  const log = new SearchableLog<string>({ tokenizer: "porter", textOf: (item) => item });
  log.restore({
    generation: 2,
    length: 1000,
    read: (from, to) => {
      const indexes = Array.from({ length: to - from }, (_, index) => from + index);
      read.push(...indexes);
      return indexes.map((index) => `item ${index}`);
    },
    search: (query, changes, visit) => {
      asked.push({ query, changes });
      const hits = Array.from({ length: 1000 }, (_, place) => 999 - place);
      for (let from = 0; from < hits.length; from += 50) {
        const some = hits.slice(from, from + 50).map((index) => ({ index, score: index / 1000 }));
        if (!visit(some)) return;
      }
    },
  });
  return { log, asked, read };
}

describe("a log that can be searched", () => {
  test("reads the text of each item once, however often it is searched without a host", () => {
    const read: string[] = [];
    const textOf = (item: string): string => {
      read.push(item);
      return item;
    };
    const log = new SearchableLog<string>({ tokenizer: "porter", textOf });
    const find = (): string[] => log.search("cats", { limit: 3 }).map(({ item }) => item);
    log.append("a black cat", "a dog");
    expect(find()).toEqual(["a black cat"]);
    log.append("a cat");
    expect(find()).toEqual(["a cat", "a black cat"]);
    expect(read).toEqual(["a black cat", "a dog", "a cat"]);
    log.rollback();
    log.append("no animal", "cats");
    expect(find()).toEqual(["cats"]);
    log.clear();
    expect(find()).toEqual([]);
    log.append("the cat");
    expect(find()).toEqual(["the cat"]);
  });

  test("reads only the items that it finds", () => {
    const { log, asked, read } = restored();
    expect(log.search("Items, ITEM!", { limit: 2 })).toEqual([
      { item: "item 999", score: 0.999 },
      { item: "item 998", score: 0.998 },
    ]);
    expect(asked).toEqual([{ query: "Items, ITEM!", changes: undefined }]);
    expect(read).toEqual([998, 999]);
  });

  test("continues until enough items are accepted, and not below the score", () => {
    const { log, read } = restored();
    const accept = (item: string): boolean => item.endsWith("0");
    const found = log.search("item", { limit: 5, minScore: 0.975, accept });
    expect(found.map(({ item }) => item)).toEqual(["item 990", "item 980"]);
    expect(Math.min(...read)).toBe(975);
    const three = log.search("item", { limit: 3, accept });
    expect(three.map(({ item }) => item)).toEqual(["item 990", "item 980", "item 970"]);
    const many = log.search("item", { limit: 12, accept: () => true });
    expect(many.map(({ score }) => score)).toEqual(
      Array.from({ length: 12 }, (_, place) => (999 - place) / 1000),
    );
  });

  test("passes on items that were added since it was stored", () => {
    const { log, asked } = restored();
    log.append("another");
    log.search("item", { limit: 1 });
    const changes = { generation: 2, start: 1000, items: ["another"] };
    expect(asked).toEqual([{ query: "item", changes }]);
  });

  test("needs no host for items that start over", () => {
    const { log, asked, read } = restored();
    log.clear();
    expect(log.search("item", { limit: 5 })).toEqual([]);
    log.append("first item", "second item");
    expect(log.search("second", { limit: 5 }).map(({ item }) => item)).toEqual(["second item"]);
    expect(asked).toEqual([]);
    expect(read).toEqual([]);
    log.mark();
    log.search("second", { limit: 1 });
    expect(asked).toHaveLength(1);
  });
});
