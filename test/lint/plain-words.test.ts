import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fault, oddPhrase } from "../../scripts/lint/plain-comments.mjs";
import { titleFault } from "../../scripts/lint/plain-titles.mjs";

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
  ["begin with a subject", "Of the record, what is in memory."],
  ["say reported", "A watcher is told of the run."],
  ["say reports", "Tells the run to its clients."],
  ["say continues", "The run goes on."],
  ["name who", "Nobody reads it."],
])("a comment is refused with the advice to %s", (reason, comment) => {
  expect(fault(comment)).toContain(reason);
});

test("a sentence in plain words is accepted", () => {
  expect(fault("The run continues after an answer, and its clients get a frame.")).toBeUndefined();
});

test.each([
  ["begin with a subject", "of one run"],
  ["begin with a noun", "what a run remembers"],
  ["begin with a subject, not with a preposition", "with a key, a request is accepted"],
  ["begin with a subject", "and the next run, too"],
  ["say continues", "a run goes on after a question"],
  ["begin with a noun", "T7: what a superseded execution writes"],
])("a title is refused, also inside of a description, with the advice to %s", (reason, title) => {
  for (const inside of [true, false]) expect(titleFault(title, inside)).toContain(reason);
});

test.each(["is refused", "that has expired ends", "if its key is wrong"])(
  "the title %j is accepted as the continuation of a description only",
  (title) => {
    expect(titleFault(title, true)).toBeUndefined();
    expect(titleFault(title, false)).toContain("begin with a subject");
  },
);

test("a title with a subject and a verb is accepted", () => {
  expect(titleFault("a run continues after an answer", false)).toBeUndefined();
});

test.each(PAGES)("%s has no phrase that needs a second reading", (page) => {
  const found = texts(readFileSync(join(root, page), "utf8"))
    .map((text) => [text, oddPhrase(text)])
    .filter(([, reason]) => reason !== undefined);
  expect(found).toEqual([]);
});
