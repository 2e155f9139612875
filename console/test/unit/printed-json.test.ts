import { expect, test } from "vitest";
import { printedJson } from "../../text/printed-json.ts";

test("short lists of texts and numbers stay on one line, and everything else is indented", () => {
  const value = { stop: ["a", "b"], none: [], size: [1, 2], tools: [{ name: "x" }], empty: {} };
  expect(printedJson(value)).toBe(`{
  "stop": ["a", "b"],
  "none": [],
  "size": [1, 2],
  "tools": [
    {
      "name": "x"
    }
  ],
  "empty": {}
}`);
});

test("printed JSON has the same value, and no list of it is wider than a line", () => {
  const value = {
    long: Array.from({ length: 40 }, (_, index) => `item ${index}`),
    deep: [[1], [2]],
  };
  const text = printedJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
});
