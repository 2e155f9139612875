import { expect, test } from "vitest";
import { extractCodeBlocks } from "#core/code/markdown-code.ts";

const FENCE = "```";
const block = (language: string, code: string) => `${FENCE}${language}\n${code}${FENCE}`;

test.each<[what: string, text: string, languages: string[], found: string[]]>([
  [
    "blocks in their order, whatever stands between",
    `a\n${block("python", "1\n")}\nb\n${block("sh", "2\n")}`,
    ["python", "sh"],
    ["python:1\n", "sh:2\n"],
  ],
  [
    "no block in another language or in none",
    `${block("ruby", "1\n")}\n${block("", "2\n")}\n${block("python3", "3\n")}`,
    ["python", "sh"],
    [],
  ],
  ["the language as it is written", block("Python", "1\n"), ["python"], ["Python:1\n"]],
  ["a language after blanks", block("  sh", "1\n"), ["sh"], ["sh:1\n"]],
  [
    "languages with signs of their own",
    `${block("c++", "1\n")}${block("cc", "2\n")}`,
    ["c++"],
    ["c++:1\n"],
  ],
  ["a block without code", block("sh", ""), ["sh"], ["sh:"]],
  ["no block that is never closed", `${FENCE}sh\nls\n`, ["sh"], []],
])("the search for code blocks finds %s", (_what, text, languages, found) => {
  const blocks = extractCodeBlocks(text, languages);
  expect(blocks.map(({ language, code }) => `${language}:${code}`)).toEqual(found);
});

test("a text of fences that are never closed is read in linear time: otherwise this test times out", () => {
  extractCodeBlocks(`${FENCE}sh\n\n\n\n`.repeat(20_001), ["python", "sh"]);
  extractCodeBlocks(`${FENCE}\n`.repeat(50_000), ["python", "sh"]);
  expect(extractCodeBlocks(`${FENCE}${"\n".repeat(200_000)}`, ["python", ""])).toEqual([]);
});
