import { describe, expect, test } from "vitest";
import { type Hit, rank } from "#core/search/rank.ts";
import { countTokens, termsOf, type Tokenizer, tokensOf } from "#core/search/tokens.ts";

function ranking(texts: readonly string[], tokens: readonly string[], by: Tokenizer): Hit[] {
  return rank(
    texts.map((text) => countTokens(text, by)),
    tokens,
  );
}

describe("a ranking", () => {
  test("counts rare words more than common ones, short texts more than long ones", () => {
    const texts = ["tea and cake", "tea", "cake", "tea and biscuits", "coffee, tea and toast", "x"];
    const ranked = ranking(texts, ["tea", "cake"], "unicode61");
    expect(ranked.map(({ index }) => texts[index])).toEqual([
      "cake",
      "tea and cake",
      "tea",
      "tea and biscuits",
      "coffee, tea and toast",
    ]);
  });

  test("puts the later of equal texts first", () => {
    const ranked = ranking(["tea", "x", "tea", "tea"], ["tea"], "porter");
    expect(ranked.map(({ index }) => index)).toEqual([3, 2, 0]);
  });

  test("is empty when nothing is known or asked", () => {
    expect(ranking([], ["tea"], "porter")).toEqual([]);
    expect(ranking(["tea"], [], "porter")).toEqual([]);
    expect(ranking(["tea", ""], ["coffee"], "porter")).toEqual([]);
  });

  test("counts every word of a long query, also those that most texts have", () => {
    const words = Array.from({ length: 50 }, (_, index) => `w${index}`);
    const texts = [...words.map((word) => `ann ${word}`), "ben", words.join(" ")];
    const ranked = ranking(texts, ["ann", ...words], "unicode61");
    expect(ranked[0]?.index).toBe(51);
    expect(ranking(texts, ["ann", "ben"], "unicode61").at(-1)?.score).toBeGreaterThan(0);
    expect(ranking(["ann tea", "ben tea", "ann x"], ["ann", "tea"], "unicode61")[0]?.index).toBe(0);
  });
});

describe("the words of a text", () => {
  test.each([
    ["porter", "Running, RUNS!", ["run", "run"]],
    ["unicode61", "Running, RUNS!", ["running", "runs"]],
    ["unicode61", "L’été à Zürich — ὥσπερ Ёлка", ["l", "ete", "a", "zurich", "ωσπερ", "елка"]],
    ["unicode61", "हिन्दी 한국어 天气很好", ["हिन्दी", "한국어", "天气很好"]],
    ["trigram", "Ab cd", ["ab ", "b c", " cd"]],
    ["trigram", "天气很好", ["天气很", "气很好"]],
    ["trigram", "🙂🙃🙂", ["🙂🙃🙂"]],
    ["trigram", "ab", []],
  ] as const)("with %s of %j are %j", (tokenizer, text, tokens) => {
    expect(tokensOf(text, tokenizer)).toEqual(tokens);
  });

  test("that are asked for stand once, as they were written", () => {
    expect([...termsOf("Running runs ran RUNNING?", "porter")]).toEqual([
      ["run", "running"],
      ["ran", "ran"],
    ]);
    expect([...termsOf("ab cde cdef", "trigram").keys()]).toEqual(["cde", "def"]);
  });

  test("that are asked for are not more than 512", () => {
    const text = Array.from({ length: 1000 }, (_, index) => `w${index}`).join(" ");
    expect(termsOf(text, "unicode61").size).toBe(512);
  });
});
