import { describe, expect, test } from "vitest";
import { rank, rarest } from "#core/search/rank.ts";
import { termsOf, tokensOf } from "#core/search/tokens.ts";

describe("a ranking", () => {
  test("counts rare words more than common ones, short texts more than long ones", () => {
    const texts = ["tea and cake", "tea", "cake", "tea and biscuits", "coffee, tea and toast", "x"];
    const ranked = rank(texts, ["tea", "cake"], "unicode61");
    expect(ranked.map(({ index }) => texts[index])).toEqual([
      "cake",
      "tea and cake",
      "tea",
      "tea and biscuits",
      "coffee, tea and toast",
    ]);
  });

  test("puts the later of equal texts first", () => {
    const ranked = rank(["tea", "x", "tea", "tea"], ["tea"], "porter");
    expect(ranked.map(({ index }) => index)).toEqual([3, 2, 0]);
  });

  test("is empty when nothing is known or asked", () => {
    expect(rank([], ["tea"], "porter")).toEqual([]);
    expect(rank(["tea"], [], "porter")).toEqual([]);
    expect(rank(["tea", ""], ["coffee"], "porter")).toEqual([]);
  });

  test("takes the rarest of many words, and none that no text has", () => {
    const numbers = Array.from({ length: 50 }, (_, index) => String(index));
    const asked = rarest(numbers, (token) => 49 - Number(token));
    expect(asked.map(({ token }) => Number(token))).toEqual(
      Array.from({ length: 32 }, (_, index) => 48 - index),
    );
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

  test("that are asked for are not more than 128", () => {
    const text = Array.from({ length: 1000 }, (_, index) => `w${index}`).join(" ");
    expect(termsOf(text, "unicode61").size).toBe(128);
  });
});
