import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { cosine } from "#core/memory/merge-ranks.ts";
import type { JsonObject } from "#core/json.ts";
import { Database } from "#sqlite/database.ts";
import { type IndexQuery, RecallIndex, storedVector } from "#sqlite/recall/recall-index.ts";
import { TextStore } from "#sqlite/text-store.ts";
import { counter, TestTeam } from "../../team/support/team.ts";
import { generatedVectors } from "./generated-vectors.ts";

interface Note {
  text: string;
  metadata: JsonObject | null;
}

/** An index as an object that was just loaded has it. */
class Index {
  readonly db: Database;
  recall: RecallIndex<Note>;

  constructor(db: Database) {
    this.db = db;
    this.recall = new RecallIndex(db, new TextStore(db), "note", ({ text }) => text);
  }

  put(id: string, text: string, more: Partial<NoteFields> = {}): void {
    const { values, space = "a", metadata = null, collection = null } = more;
    this.recall.put({
      id,
      collection,
      run: null,
      from_turn: 0,
      body: { text, metadata },
      vector: values && storedVector({ space, values }),
    });
  }

  add(id: string, text: string, more: Partial<NoteFields> = {}): void {
    this.recall.change(() => this.put(id, text, more));
  }

  search(query: Partial<IndexQuery>): string[] {
    const all = { text: "", k: 10, collection: null };
    return this.recall.search({ ...all, ...query }).hits.map(({ row }) => row.id);
  }

  reload(): void {
    this.recall = new RecallIndex(this.db, new TextStore(this.db), "note", ({ text }) => text);
  }
}

interface NoteFields {
  values: readonly number[];
  space: string;
  metadata: JsonObject;
  collection: string;
}

async function withIndex(use: (index: Index) => void): Promise<void> {
  const { stub } = await TestTeam.create(counter("ann"));
  await runInDurableObject(stub, (_instance, { storage }) => use(new Index(new Database(storage))));
}

function embedding(values: readonly number[], space = "a") {
  return { space, values };
}

describe("words", () => {
  test("are found by their stems, the rarest count most", () =>
    withIndex((index) => {
      index.add("shoes", "Anna buys running shoes");
      index.add("tea", "Anna drinks tea in the morning");
      index.add("coffee", "Ben drinks coffee in the morning");
      expect(index.search({ text: "who runs?" })).toEqual(["shoes"]);
      expect(index.search({ text: "what does Ben drink" })[0]).toBe("coffee");
      expect(index.search({ text: "submarine" })).toEqual([]);
    }));

  test.for([
    ["北京", "我们在北京大学学习机器学习", "上海的天气很好"],
    ["学习", "我们在北京大学学习机器学习", "上海的天气很好"],
    ["東京", "彼は東京都に住んでいます", "大阪で働いています"],
    ["データベース", "データベースの設計について話した", "猫が好きです"],
    ["ภาษาไทย", "ฉันเรียนภาษาไทยทุกวัน", "วันนี้ฝนตก"],
  ] as const)("without spaces are found: %s", ([text, right, wrong]) =>
    withIndex((index) => {
      index.add("right", right);
      index.add("wrong", wrong);
      expect(index.search({ text })).toEqual(["right"]);
    }),
  );

  test("of a text that was changed or removed are not found", () =>
    withIndex((index) => {
      index.add("one", "a green parrot");
      index.add("one", "a blue parrot");
      expect(index.search({ text: "green" })).toEqual([]);
      expect(index.search({ text: "blue" })).toEqual(["one"]);
      index.recall.change(() => index.recall.remove(index.recall.find("one")?.seq ?? 0));
      expect(index.search({ text: "parrot" })).toEqual([]);
      expect(index.recall.find("one")).toBeUndefined();
    }));
});

describe("vectors", () => {
  test.for([
    { dimensions: 1536, clusters: 20, spread: 0.7 },
    { dimensions: 384, clusters: 10, spread: 0.3 },
    { dimensions: 100, clusters: 40, spread: 1 },
  ])("of %o: the first ten are those of an exact search", (kind) =>
    withIndex((index) => {
      const generated = generatedVectors(kind);
      const stored = Array.from({ length: 800 }, () => generated.next());
      index.recall.change(() => {
        for (const [n, values] of stored.entries()) index.put(String(n), `text ${n}`, { values });
      });
      index.reload();
      let found = 0;
      for (let query = 0; query < 10; query++) {
        const values = generated.next();
        const exact = stored
          .map((one, n) => ({ id: String(n), similarity: cosine(one, values) }))
          .toSorted((a, b) => b.similarity - a.similarity)
          .slice(0, 10);
        const ids = new Set(index.search({ embedding: embedding(values) }));
        found += exact.filter(({ id }) => ids.has(id)).length;
      }
      expect(found / 100).toBeGreaterThanOrEqual(0.98);
    }),
  );

  test("of another embedding are not compared", () =>
    withIndex((index) => {
      index.add("a", "first", { values: [1, 0, 0, 0], space: "a" });
      index.add("b", "second", { values: [1, 0, 0, 0], space: "b" });
      index.add("longer", "third", { values: [1, 0, 0, 0, 0], space: "a" });
      index.add("none", "fourth");
      const near = embedding([1, 0.1, 0, 0]);
      expect(index.search({ embedding: near })).toEqual(["a"]);
      const [hit] = index.recall.search({ text: "", embedding: near, k: 5, collection: null }).hits;
      expect(hit?.similarity).toBeCloseTo(1 / Math.hypot(1, 0.1), 5);
      expect(hit?.words).toBeNull();
      const words = { text: "first", embedding: embedding([1, 0], "c"), k: 5, collection: null };
      expect(index.recall.search(words)).toMatchObject({
        mode: "words",
        hits: [{ similarity: null }],
      });
    }));

  test("and words are merged: what both find comes first", () =>
    withIndex((index) => {
      index.add("meaning", "a vehicle with two wheels", { values: [1, 0, 0, 0] });
      index.add("both", "a bicycle", { values: [0.9, 0.1, 0, 0] });
      index.add("word", "bicycle pump of a shop", { values: [0, 0, 0, 1] });
      const query = { text: "bicycle", embedding: embedding([1, 0, 0, 0]) };
      expect(index.search(query)[0]).toBe("both");
      expect(new Set(index.search(query))).toEqual(new Set(["meaning", "both", "word"]));
    }));

  test("of equal texts are known", () =>
    withIndex((index) => {
      index.add("a", "the same text", { values: [3, 4] });
      index.reload();
      const texts = ["the same text", "another text"];
      const [known, unknown] = index.recall.vectors("a", texts);
      expect(known?.map((value) => Math.round(value * 100))).toEqual([60, 80]);
      expect(unknown).toBeNull();
      expect(index.recall.vectors("b", texts)).toEqual([null, null]);
    }));
});

test("filters and collections leave out the others, however many those are", () =>
  withIndex((index) => {
    const generated = generatedVectors({ dimensions: 64, clusters: 2 });
    index.recall.change(() => {
      for (let n = 0; n < 400; n++) {
        const rare = n % 100 === 7;
        index.put(String(n), "a word", {
          values: generated.next(),
          metadata: { kind: rare ? "rare" : "common" },
          ...(n > 0 && { collection: n % 200 === 8 ? "small" : "large" }),
        });
      }
    });
    const both = { text: "word", embedding: embedding(generated.next()) };
    expect(new Set(index.search({ ...both, filter: { kind: "rare" } }))).toEqual(
      new Set(["7", "107", "207", "307"]),
    );
    expect(new Set(index.search({ ...both, collection: "small" }))).toEqual(
      new Set(["0", "8", "208"]),
    );
    expect(index.search({ order: "latest", filter: { kind: "rare" }, k: 2 })).toEqual([
      "307",
      "207",
    ]);
  }));

test("an entry is three written rows, and a query writes none", () =>
  withIndex((index) => {
    const generated = generatedVectors({ dimensions: 256, clusters: 3 });
    index.add("first", "the tables", { values: generated.next() });
    for (const text of ["one thing", "another thing"]) {
      const before = index.db.rowsWritten;
      index.add(text, text, { values: generated.next() });
      expect(index.db.rowsWritten - before).toBe(3);
    }
    const before = index.db.rowsWritten;
    index.reload();
    expect(index.search({ text: "thing", embedding: embedding(generated.next()) })).toHaveLength(3);
    expect(index.db.rowsWritten).toBe(before);
  }));

test("changes that are looked at only, or fail, leave nothing", () =>
  withIndex((index) => {
    index.add("kept", "a kept parrot", { values: [1, 0, 0, 0] });
    const query = { text: "parrot", embedding: embedding([1, 0, 0, 0]) };
    const seen = index.recall.after(
      () => {
        index.put("new", "a new parrot", { values: [1, 0.1, 0, 0], space: "a" });
        index.recall.remove(index.recall.find("kept")?.seq ?? 0);
      },
      () => index.search(query),
    );
    expect(seen).toEqual(["new"]);
    expect(index.search(query)).toEqual(["kept"]);
    expect(() =>
      index.recall.change(() => {
        index.put("lost", "a lost parrot", { values: [1, 0, 0, 0], space: "b" });
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(index.search(query)).toEqual(["kept"]);
    expect(index.search({ embedding: embedding([1, 0, 0, 0], "b") })).toEqual([]);
    index.add("after", "another parrot", { values: [1, 0, 0, 0], space: "b" });
    expect(new Set(index.search({ text: "parrot" }))).toEqual(new Set(["kept", "after"]));
  }));

test("a cleared index is empty, and is filled again", () =>
  withIndex((index) => {
    index.add("one", "x".repeat(2_500_000), { values: [1, 0] });
    index.add("two", "two words", { values: [0, 1] });
    index.recall.clear();
    expect(index.search({ text: "two", embedding: embedding([1, 0]) })).toEqual([]);
    expect(index.recall.size).toBe(0);
    expect(index.recall.vectors("a", ["two words"])).toEqual([null]);
    index.add("two", "two words");
    expect(index.search({ text: "two" })).toEqual(["two"]);
  }));
