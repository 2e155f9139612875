import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { brokenLists } from "../../scripts/lint/broken-lists.mjs";

const root = join(import.meta.dirname, "../..");
const PAGES = globSync(["*.md", "{docs,bench,console,create-troupe,examples,template}/**/*.md"], {
  cwd: root,
  exclude: ["docs/api/**", "docs/reference/**", "**/node_modules/**"],
});

test.each([
  ["a bullet inside a paragraph", "The turn\n* restarts.", 2, "hyphen"],
  ["a star as bullet", "* One.\n* Two.", 1, "hyphen"],
  ["a hyphen at the start of a line", "A range of 5\n- 7 turns.", 2, "empty line"],
  ["a number at the start of a line", "A foreign host is\n403. The Worker answers.", 2, "number"],
  ["a list without an empty line before it", "There are two:\n- One.\n- Two.", 2, "empty line"],
  ["a line of an item that lost its indent", "- One\nand a half.", 2, "indent"],
  ["two items on one line", "- **One.** It is so. - **Two.** It is not.", 1, "a line of its own"],
])("%s is found", (_kind, page, line, advice) => {
  const [fault] = brokenLists(page);
  expect(fault).toMatchObject({ line, advice: expect.stringContaining(advice) as string });
});

test.each([
  "A paragraph:\n\n- One\n  and a half.\n- Two.\n\nAnother paragraph.",
  "1. One.\n2. Two.\n   - Inside,\n     of two lines.",
  "# A heading\n- One.\n\n| a | b |\n|---|---|\n| 1. | - |\n\n    * code\n",
  "Text.\n\n```md\nText\n* a bullet\n```\n\n- `a: - b`.",
  "From 5 - 7 turns on. The sum is 403.",
])("the page %j has no broken list", (page) => {
  expect(brokenLists(page)).toEqual([]);
});

test.each(PAGES)("%s has no item that a reflow broke", (page) => {
  expect(brokenLists(readFileSync(join(root, page), "utf8"))).toEqual([]);
});
