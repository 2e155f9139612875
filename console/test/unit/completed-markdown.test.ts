import { describe, expect, test } from "vitest";
import type { Token, Tokens } from "marked";
import { lexer } from "../../text/lexer.ts";
import { completedMarkdown } from "../../text/completed-markdown.ts";
import { thoughtIn } from "../../text/thought.ts";

/** The visible text, without the marks that Markdown turns into elements. */
function seen(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      const { type, text = "", tokens: inner } = token as Tokens.Generic;
      if (type === "table") {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows]
          .flat()
          .map((cell) => seen(cell.tokens))
          .join(" ");
      }
      if (type === "list")
        return (token as Tokens.List).items.map((item) => seen(item.tokens)).join(" ");
      if (type === "formula") return "∑";
      return inner === undefined ? String(text) : seen(inner);
    })
    .join(" ");
}

const DOCUMENT = `# The *sea*

It is **very wide**, _deep_ and \`blue()\`: [a map](https://maps.example/sea "Map") shows **all of *it***.

Title
-----

1. first
2. second
   - [ ] inner

> quoted ~~never~~

| day | waves |
|:----|------:|
| 1 | many |

\`\`\`js
const a = b * c;
\`\`\`

Then $E = mc^2$, \\(a\\) and

$$
x_1
$$

The end & more.`;

describe("a text that is being written", () => {
  test("never shows the marks of its elements, and ends unchanged", () => {
    const code = /const a = b \*? ?c?;?/g;
    for (let length = 1; length <= DOCUMENT.length; length++) {
      const text = DOCUMENT.slice(0, length);
      const shown = seen(lexer(completedMarkdown(text)) ?? []).replaceAll(code, "");
      expect([text.slice(-20), shown.match(/[*_`|[\]~#$\\]|\(http|---|===/)]).toEqual([
        text.slice(-20),
        null,
      ]);
    }
    expect(completedMarkdown(DOCUMENT)).toBe(DOCUMENT);
  });

  test.each([
    ["**bold", "**bold**"],
    ["**bold*", "**bold**"],
    ["a **b *c", "a **b *c***"],
    ["a `code", "a `code`"],
    ["a `", "a "],
    ["see [this](https://exa", "see this"],
    ["see [this", "see this"],
    ["see ![this](data:", "see "],
    ["one\n- ", "one"],
    ["one\n--", "one"],
    ["| a | b |", ""],
    ["| a | b |\n|--", ""],
    ["| a | b |\n|---|---|\n| 1", "| a | b |\n|---|---|\n| 1"],
    ["```js\na\n``", "```js\na"],
    ["```js\n**a", "```js\n**a"],
    ["it costs $5 or", "it costs $5 or"],
    ["so $$x", "so "],
    ["2 * 3 is", "2 * 3 is"],
    ["snake_case_name", "snake_case_name"],
    ["plain", "plain"],
  ])("is shown for %j as %j", (text, shown) => {
    expect(completedMarkdown(text)).toBe(shown);
  });
});

describe("the formulas", () => {
  const formulas = (text: string): string[] => {
    const found: string[] = [];
    const visit = (tokens: readonly Token[]): void => {
      for (const token of tokens) {
        const { type, tex, tokens: inner } = token as Tokens.Generic;
        if (type === "formula") found.push(tex as string);
        visit(inner ?? []);
      }
    };
    visit(lexer(text) ?? []);
    return found;
  };

  test.each([
    ["$x^2$ and \\(y\\)", ["x^2", "y"]],
    ["$$\na + b\n$$", ["a + b"]],
    ["\\[\nc\n\\]", ["c"]],
    ["$5 and $10, or $7", []],
    ["`$x$` and \\$x\\$", []],
    ["```\n$$x$$\n```", []],
  ])("that %j contains are %j", (text, tex) => {
    expect(formulas(text)).toEqual(tex);
  });
});

test.each([
  ["<thi", { thought: "", answer: "", open: true }],
  ["<think>a</thi", { thought: "a", answer: "", open: true }],
  ["<think>a</think>\n\nb", { thought: "a", answer: "b", open: false }],
  ["a <think>", { thought: undefined, answer: "a <think>", open: false }],
])("the reasoning in %j is %j", (text, parts) => {
  expect(thoughtIn(text)).toEqual(parts);
});
