import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BytePairCounter } from "#core/models/tokens/byte-pairs.ts";
import { casesOf } from "../../../support/samples.ts";

const { Tiktoken } = await import("js-tiktoken/lite");
const { default: cl100k } = await import("js-tiktoken/ranks/cl100k_base");
const reference = new Tiktoken(cl100k);
const counter = new BytePairCounter(cl100k);

describe("BytePairCounter", () => {
  test("counts the tokens of the reference encoder", () => {
    const word = fc.oneof(
      fc.string({ maxLength: 30 }),
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.constantFrom(
        "the",
        "Straße",
        "中文字符",
        "ไทย",
        "  \n\t ",
        "don't",
        "x".repeat(60),
        "12345",
      ),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (words) => {
        const text = words.join(" ");
        expect(counter.count(text)).toBe(reference.encode(text, [], []).length);
      }),
      { numRuns: casesOf(200) },
    );
  });

  test("reads the names of control tokens as text", () => {
    expect(counter.count("<|endoftext|>")).toBe(reference.encode("<|endoftext|>", [], []).length);
    expect(counter.count("<|endoftext|>")).toBeGreaterThan(1);
  });

  test("counts a megabyte without spaces", () => {
    expect(counter.count("ab".repeat(500_000))).toBeGreaterThan(100_000);
  });
});
