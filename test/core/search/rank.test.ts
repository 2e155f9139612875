import { describe, expect, test } from "vitest";
import { type Hit, languagesIn, rank } from "#core/search/rank.ts";
import { loadStemmers } from "#core/search/stem.ts";
import { countTokens, queryWords, type Tokenizer } from "#core/search/tokens.ts";

await loadStemmers();

function ranking(texts: readonly string[], query: readonly string[], tokenizer: Tokenizer): Hit[] {
  const counted = texts.map((text) => countTokens(text, { tokenizer }));
  return rank(counted, queryWords(query.join(" "), { tokenizer }, languagesIn(counted)));
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

  test("is empty when the index or the query is empty", () => {
    expect(ranking([], ["tea"], "porter")).toEqual([]);
    expect(ranking(["tea"], [], "porter")).toEqual([]);
    expect(ranking(["tea", ""], ["coffee"], "porter")).toEqual([]);
  });

  test("counts every word of a long query, also those of most texts", () => {
    const words = Array.from({ length: 50 }, (_, index) => `w${index}`);
    const texts = [...words.map((word) => `ann ${word}`), "ben", words.join(" ")];
    const ranked = ranking(texts, ["ann", ...words], "unicode61");
    expect(ranked[0]?.index).toBe(51);
    expect(ranking(texts, ["ann", "ben"], "unicode61").at(-1)?.score).toBeGreaterThan(0);
    expect(ranking(["ann tea", "ben tea", "ann x"], ["ann", "tea"], "unicode61")[0]?.index).toBe(0);
  });
});
