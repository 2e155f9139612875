import { expect, test } from "vitest";
import { headingLevels } from "../../text/heading-levels.ts";
import { lexer } from "../../text/lexer.ts";

function levelsOf(text: string): number[] {
  const blocks = lexer(text) ?? [];
  const levels = headingLevels(blocks, 3);
  return levels.filter((_, index) => blocks[index]?.type === "heading");
}

test("the headings of a message begin below that of the page, and leave no level out", () => {
  expect(levelsOf("### A\n\n# B\n\n#### C\n\n## D\n\n#### E")).toEqual([3, 3, 4, 4, 5]);
  expect(levelsOf("## A\n\n### B\n\n## C")).toEqual([3, 4, 3]);
});

test("headings in quotes are below the heading before them", () => {
  const blocks = lexer("# A\n\n> ###### B") ?? [];
  const quote = blocks.findIndex(({ type }) => type === "blockquote");
  expect(headingLevels(blocks, 3)[quote]).toBe(4);
});
