import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fault, oddPhrase } from "../../scripts/lint/plain-comments.mjs";

const root = join(import.meta.dirname, "../..");
const PAGES = globSync(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/**/*.md"], {
  cwd: root,
  exclude: ["docs/api/**", "docs/reference/**"],
});

/** The paragraphs and cells of a page, without code. */
function texts(page: string): string[] {
  const prose = page.replaceAll(/^( *)```[^]*?^\1```/gm, "").replaceAll(/`[^`\n]+`/g, "code");
  return prose.split(/\n\s*\n|\n(?=[-|#] )|\|/).map((text) => text.replaceAll(/\s+/g, " ").trim());
}

test.each([
  ["Of the record, what is in memory.", "begin with a subject"],
  ["A watcher is told of the run.", "say reported"],
  ["Tells the run to its clients.", "say reports"],
  ["The run goes on.", "say continues"],
  ["Nobody reads it.", "name who"],
])("the comment %j is refused", (comment, reason) => {
  expect(fault(comment)).toContain(reason);
});

test("a sentence in plain words is not", () => {
  expect(fault("The run continues after an answer, and its clients get a frame.")).toBeUndefined();
});

test.each(PAGES)("%s has no phrase that needs a second reading", (page) => {
  const found = texts(readFileSync(join(root, page), "utf8"))
    .map((text) => [text, oddPhrase(text)])
    .filter(([, reason]) => reason !== undefined);
  expect(found).toEqual([]);
});
