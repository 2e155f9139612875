import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { cosine } from "#core/memory/merge-ranks.ts";
import type { JsonObject } from "#core/json.ts";
import type { TextLanguage } from "#core/search/languages.ts";
import { languagesIn, rank } from "#core/search/rank.ts";
import { loadStemmers } from "#core/search/stem.ts";
import { countTokens, queryWords } from "#core/search/tokens.ts";
import { Database } from "#sqlite/database.ts";
import { type IndexQuery, RecallIndex, storedVector } from "#sqlite/recall/recall-index.ts";
import { TextStore } from "#sqlite/text-store.ts";
import { counter, TestTeam } from "../../team/support/team.ts";
import { WORD_CASES } from "../../support/word-cases.ts";
import { generatedVectors } from "./generated-vectors.ts";

await loadStemmers();

interface Note {
  text: string;
  metadata: JsonObject | null;
}

/** An index as an object that was just loaded has it. */
class Index {
  readonly db: Database;
  recall: RecallIndex<Note>;

  language: TextLanguage = "auto";
  /** Searches that met entries to be renewed. */
  outdated = 0;

  constructor(db: Database) {
    this.db = db;
    this.recall = this.#load();
  }

  #load(): RecallIndex<Note> {
    return new RecallIndex(this.db, new TextStore(this.db), "note", {
      textOf: ({ text }) => text,
      languageOf: () => this.language,
      onOutdated: () => this.outdated++,
    });
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
    this.recall = this.#load();
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

describe("words in the index", () => {
  test("are found by their stems, and the rarest count most", () =>
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
  ] as const)("are found without spaces: %s", ([text, right, wrong]) =>
    withIndex((index) => {
      index.add("right", right);
      index.add("wrong", wrong);
      expect(index.search({ text })).toEqual(["right"]);
    }),
  );

  test("are not found in a text that was changed or removed", () =>
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

describe("vectors in the index", () => {
  test.for([
    { dimensions: 1536, clusters: 20, spread: 0.7 },
    { dimensions: 384, clusters: 10, spread: 0.3 },
    { dimensions: 100, clusters: 40, spread: 1 },
  ])("give the same first ten as an exact search for %o", (kind) =>
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

  test("are not compared if they come from another embedding", () =>
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

  test("are merged with words: an entry that both find comes first", () =>
    withIndex((index) => {
      index.add("meaning", "a vehicle with two wheels", { values: [1, 0, 0, 0] });
      index.add("both", "a bicycle", { values: [0.9, 0.1, 0, 0] });
      index.add("word", "bicycle pump of a shop", { values: [0, 0, 0, 1] });
      const query = { text: "bicycle", embedding: embedding([1, 0, 0, 0]) };
      expect(index.search(query)[0]).toBe("both");
      expect(new Set(index.search(query))).toEqual(new Set(["meaning", "both", "word"]));
    }));

  test("are known for equal texts", () =>
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

test("filters and collections exclude all other entries, however many", () =>
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

test("changes that are rolled back or fail leave nothing", () =>
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

describe.each(WORD_CASES)("the index finds by words: $name", ({ texts, questions }) => {
  test("the results equal those without SQLite", () =>
    withIndex((index) => {
      for (const [n, text] of texts.entries()) index.add(String(n), text);
      const counted = texts.map((text) => countTokens(text, { tokenizer: "porter" }));
      const languages = languagesIn(counted);
      for (const [question, expected] of questions) {
        const { hits } = index.recall.search({ text: question, k: 10, collection: null });
        expect([question, hits[0]?.row.id]).toEqual([question, expected?.toString()]);
        const words = queryWords(question, { tokenizer: "porter" }, languages);
        expect(hits.map(({ row, words: score }) => [Number(row.id), score?.toFixed(6)])).toEqual(
          rank(counted, words).map((hit) => [hit.index, hit.score.toFixed(6)]),
        );
      }
    }));
});

describe("an index of an earlier version", () => {
  const TABLE = "note_words";

  /** As versions before 0.2 have made it: SQLite took the words apart, and stemmed them as English. */
  function makeEarlier(index: Index, texts: Readonly<Record<string, string>>): void {
    for (const [id, text] of Object.entries(texts)) index.add(id, text);
    index.db.write("drop table note_words_2_terms");
    index.db.write("drop table note_words_2");
    index.db.write(
      `create virtual table ${TABLE} using fts5 (text, content = '', contentless_delete = 1, tokenize = "porter unicode61 categories 'L* N* Co Mn Mc'")`,
    );
    index.db.write(`create virtual table ${TABLE}_terms using fts5vocab (${TABLE}, 'row')`);
    for (const [n, text] of Object.values(texts).entries()) {
      index.db.write(`insert into ${TABLE} (rowid, text) values (?, ?)`, n + 1, text.toLowerCase());
    }
    index.reload();
  }

  test("answers at once, accepts changes, and is renewed part by part", () =>
    withIndex((index) => {
      const others = Array.from({ length: 450 }, (_, n) => [`other${n}`, `Box ${n} of the store`]);
      const texts = {
        shoes: "Anna buys running shoes",
        insurance: "Die Haftpflichtversicherung deckt Schäden",
        tea: "Anna drinks tea",
        ...(Object.fromEntries(others) as Record<string, string>),
      };
      makeEarlier(index, texts);
      expect(index.recall.exists).toBe(true);
      expect(index.search({ text: "who runs?" })).toEqual(["shoes"]);
      expect(index.search({ text: "Versicherung" })).toEqual([]);
      expect(index.outdated).toBe(2);

      index.add("coffee", "Ben drinks coffee in the morning");
      index.add("tea", "Anna drinks green tea");
      index.recall.change(() => index.recall.remove(1));
      expect(new Set(index.search({ text: "drinks" }))).toEqual(new Set(["tea", "coffee"]));
      expect(index.search({ text: "green" })).toEqual(["tea"]);
      expect(index.search({ text: "shoes" })).toEqual([]);

      let times = 1;
      while (index.recall.renewWords()) {
        times++;
        index.reload();
        expect(index.search({ text: "Box 449" })[0]).toBe("other449");
      }
      expect(times).toBe(3);
      expect(index.db.hasTable(TABLE)).toBe(false);
      expect(index.search({ text: "Versicherung" })).toEqual(["insurance"]);
      expect(index.search({ text: "Box 449" })[0]).toBe("other449");
      expect(index.recall.renewWords()).toBe(false);
    }));

  test("is renewed for another language", () =>
    withIndex((index) => {
      index.language = "sv";
      index.add("one", "Kirjastossa");
      index.add("two", "Talossa");
      expect(index.search({ text: "kirjaston" })).toEqual([]);
      index.language = "fi";
      expect(index.recall.renewWords("fi")).toBe(false);
      expect(index.search({ text: "kirjaston" })).toEqual(["one"]);
      const written = index.db.rowsWritten;
      expect(index.recall.renewWords("fi")).toBe(false);
      expect(index.db.rowsWritten).toBe(written);
    }));

  test("is cleared with both of its tables", () =>
    withIndex((index) => {
      makeEarlier(index, { shoes: "Anna buys running shoes" });
      index.recall.change(() => index.recall.clear());
      expect(index.db.hasTable(TABLE)).toBe(false);
      index.add("tea", "Anna drinks tea");
      expect(index.search({ text: "Anna" })).toEqual(["tea"]);
    }));
});
