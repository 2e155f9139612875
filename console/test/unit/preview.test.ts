import { expect, test } from "vitest";
import { preview } from "../../text/preview.ts";

test.each([
  ["## Result\n\nIt is **done**, _almost_.", "Result It is done, almost."],
  ["- one\n- [x] two\n1. three", "one two three"],
  ["> # Quoted\n> text", "Quoted text"],
  [
    "```js\nconst a = 2 ** 3;\n```\nsays `snake_case_name`",
    "const a = 2 ** 3; says snake_case_name",
  ],
  ["See [the page](https://a.example/x) and ![a plot](p.png).", "See the page and a plot."],
  ["| city | rent |\n|---|--:|\n| Rome | 5 |", "city | rent Rome | 5"],
  ["It ends in the **middle of a", "It ends in the middle of a"],
  ["<think>Hm. **Yes**.</think>**42**", "42"],
  [
    "a < b, 5 * 3 * 2, #1 and C# are text - always",
    "a < b, 5 * 3 * 2, #1 and C# are text - always",
  ],
  ["One\n\n***\n\nTwo", "One Two"],
])("the preview of %j is plain text", (markdown, text) => {
  expect(preview(markdown)).toBe(text);
});

test("a preview shows invisible characters as names do", () => {
  expect(preview("a\u202Eb")).not.toContain("\u202E");
});

test("a preview of a hostile text takes no time", () => {
  const started = performance.now();
  for (const part of ["[", "*_", "> ", "![", "| -", "``", "#"]) preview(part.repeat(20_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
