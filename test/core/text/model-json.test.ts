import { describe, expect, test } from "vitest";
import { extractCodeBlocks, extractJson } from "troupe";

const OSLO = { city: "Oslo" };

describe("the search for JSON in a text", () => {
  test.each<[string, unknown]>([
    ['{"city": "Oslo"}', OSLO],
    ['{"city": "Oslo ```x```"}', { city: "Oslo ```x```" }],
    ['```json\n{"city": "Oslo ```x```"}\n```', { city: "Oslo ```x```" }],
    ['```\n{"city": "Oslo"}\n```', OSLO],
    ['\uFEFF  {"city": "Oslo"}\n', OSLO],
    ['Sure! {"city": "Oslo"} Anything else?', OSLO],
    ['<think>{"city": "Bergen"}?</think>{"city": "Oslo"}', OSLO],
    ['{"city": "Bergen"}?\n</think>\n{"city": "Oslo"}', OSLO],
    ['Not {"city": "Bergen"} but\n```json\n{"city": "Oslo"}\n```', OSLO],
    ['{"city": "Oslo"}\nAgain: {"city": "Oslo"}', OSLO],
    ['As [1] says, {city} is {"city": "Oslo"}', OSLO],
    ['The list: [{"city": "Oslo"}]', [OSLO]],
    ["42", 42],
    ["null", null],
  ])("finds one value in %j", (text, value) => {
    expect(extractJson(text)).toEqual(value);
  });

  test.each([
    ["no JSON", /not JSON/],
    ["", /not JSON/],
    ['{"city": "Oslo", "in": {"country": "Norway"}', /not JSON/],
    ['{"city": Oslo, "in": {"country": "Norway"}}', /not JSON/],
    ['{"city": "Oslo"} or {"city": "Bergen"}', /2 JSON values/],
  ])("finds no single value in %j", (text, why) => {
    expect(() => extractJson(text)).toThrow(why);
  });

  test("keeps the digits of integers beyond 2^53", () => {
    const value = extractJson('Sure: {"id": 9007199254740993, "at": [1]}');
    expect(JSON.stringify(value)).toBe('{"id":9007199254740993,"at":[1]}');
  });

  test("reads a long text in proportion to it, and no value that is nested too deeply", () => {
    for (const part of ["[", "{", '{"a":', "[1,", '"', "```json\n", "</think>`"])
      expect(() => extractJson(`x ${part.repeat(100_000)}`)).toThrow("no JSON value");
  });
});

test("code blocks are extracted with their languages", () => {
  const text = "One:\n```python\nprint(1)\n```\nTwo:\n```sh\nls\n```\n```\nplain\n```";
  expect(extractCodeBlocks(text)).toEqual([
    { language: "python", code: "print(1)\n" },
    { language: "sh", code: "ls\n" },
    { language: "", code: "plain\n" },
  ]);
  expect(extractCodeBlocks(text, ["Python"])).toEqual([{ language: "python", code: "print(1)\n" }]);
});
