import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fault, oddPhrase, stubFault } from "../../scripts/lint/plain-comments.mjs";
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
  ["say `is not a`", "A text that is no list is refused."],
  ["say `is not a`", "Its arguments may be no object."],
])("a comment is refused with the advice to %s", (reason, comment) => {
  expect(fault(comment)).toContain(reason);
});

test("a sentence in plain words is accepted", () => {
  expect(fault("The run continues after an answer, and its clients get a frame.")).toBeUndefined();
});

test.each([
  "There is no list, and there may be no text.",
  "There was no answer; the run is no longer active, and a retry is no more than a call.",
])("%j is accepted, because `is no` is right there", (comment) => {
  expect(fault(comment)).toBeUndefined();
});

test.each([
  "* Whether it is idle. ",
  "*\n * What the run needs next.\n *\n * @throws TypeError for an ended run\n ",
  " Where the chunk is that is being filled.",
  " How often it is sent.",
])("a comment of the product's code is refused as a stub: %j", (comment) => {
  expect(stubFault(comment)).toContain("name the thing");
  expect(fault(comment)).toBeUndefined();
});

test.each([
  "* True while it is idle; whether a timer runs does not matter. ",
  "* @param beside whether the team has another run ",
  " The run waits where the last one ended.",
])("a comment that names its subject is accepted in the product's code: %j", (comment) => {
  expect(stubFault(comment)).toBeUndefined();
});

test.each([
  ["begin with a subject", "of one run"],
  ["begin with a noun", "what a run remembers"],
  ["begin with a subject, not with a preposition", "with a key, a request is accepted"],
  ["begin with a subject", "and the next run, too"],
  ["say continues", "a run goes on after a question"],
  ["say `is not a`", "a text that is no list is refused"],
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
