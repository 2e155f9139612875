import { Pattern } from "#core/json-schema/pattern/pattern.ts";
import { array, assert, constantFrom, property } from "fast-check";
import { ValueError } from "troupe";
import { describe, expect, it } from "vitest";
import { casesOf } from "../../../support/samples.ts";

/** Pieces of ECMAScript patterns with the `u` flag; joined, most are valid. */
const PIECES = [
  " ",
  ...String.raw`a b c 1 _ . ^ $ | \d \W \s \b \B \. \/ \n \t \x61 \u0061 \cJ \0`.split(" "),
  ...String.raw`\u{1F600} \uD83D\uDE00 \p{L} \P{Lu} [ab] [^a-c] [\]\d] [] [^] 😀`.split(" "),
  ...String.raw`* + ? *? {2} {1,} {0,2} {0} ( ) (?: (?<name> (?= (?! (?<= (?<!`.split(" "),
];

describe("a pattern", () => {
  it("matches the texts that RegExp matches", () => {
    const source = array(constantFrom(...PIECES), { maxLength: 10 }).map(balanced);
    const text = array(constantFrom(..."aabc1_ .\n\u2028é😀\0".split(/(?:)/u), "\ud83d"), {
      maxLength: 8,
    }).map((characters) => characters.join(""));
    assert(
      property(source, array(text, { minLength: 5, maxLength: 5 }), (pattern, texts) => {
        let expression: RegExp;
        try {
          expression = new RegExp(pattern, "u");
        } catch {
          expect(() => new Pattern(pattern)).toThrow(ValueError);
          return;
        }
        const ours = new Pattern(pattern);
        for (const sample of texts) {
          expect([pattern, sample, ours.test(sample)]).toEqual([
            pattern,
            sample,
            expression.test(sample),
          ]);
        }
      }),
      { numRuns: casesOf(3000), seed: 8 },
    );
  });

  it.each([
    ["^(a+)+$", `${"a".repeat(200_000)}!`],
    ["^(a|aa)+$", `${"a".repeat(100_000)}!`],
    ["^(\\w+\\s?)*$", `${"word ".repeat(20_000)}!`],
    ["(a*)*b", "a".repeat(200_000)],
    ["^(?=.*[A-Z])(?=.*\\d).{8,}$", "a".repeat(200_000)],
  ])("%s takes linear time", (source, text) => {
    expect(new Pattern(source).test(text)).toBe(false);
  });

  it.each([
    ["(a)\\1", "back references such as \\1 are not supported"],
    ["(?<x>a)\\k<x>", "back references such as \\k<x> are not supported"],
    ["(?i:a)", "flags inside of a pattern"],
    ["(a{1000}){1000}", "more than 10000 states"],
    ["(".repeat(101) + ")".repeat(101), "nested deeper than 100 levels"],
    ["a(", "not a valid regular expression"],
  ])("%s is refused", (source, message) => {
    expect(() => new Pattern(source)).toThrow(message);
  });
});

/** Closes the groups that are open, so that more of the patterns are valid. */
function balanced(pieces: readonly string[]): string {
  let open = 0;
  const kept = pieces.filter((piece) => {
    if (piece.startsWith("(")) open++;
    if (piece !== ")") return true;
    return open > 0 && open-- > 0;
  });
  return kept.join("") + ")".repeat(open);
}
