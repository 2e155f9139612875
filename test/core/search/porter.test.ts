import { expect, test } from "vitest";
import { stem } from "../../../src/core/search/porter.ts";

// What SQLite's tokenizer makes of these words.
test.each([
  ["caresses", "caress"],
  ["ponies", "poni"],
  ["ties", "ti"],
  ["cats", "cat"],
  ["feed", "feed"],
  ["agreed", "agre"],
  ["plastered", "plaster"],
  ["motoring", "motor"],
  ["sing", "sing"],
  ["conflated", "conflat"],
  ["troubling", "troubl"],
  ["sized", "size"],
  ["hopping", "hop"],
  ["falling", "fall"],
  ["filing", "file"],
  ["happy", "happi"],
  ["sky", "sky"],
  ["relational", "relat"],
  ["conditional", "condit"],
  ["vietnamization", "vietnam"],
  ["sensitivity", "sensit"],
  ["hopefulness", "hope"],
  ["electrical", "electr"],
  ["adoption", "adopt"],
  ["replacement", "replac"],
  ["adjustable", "adjust"],
  ["probate", "probat"],
  ["rate", "rate"],
  ["cease", "ceas"],
  ["controlling", "control"],
  ["roll", "roll"],
  ["generalizations", "gener"],
  ["is", "is"],
  ["3", "3"],
])("the stem of %s is %s", (word, expected) => {
  expect(stem(word)).toBe(expected);
});
