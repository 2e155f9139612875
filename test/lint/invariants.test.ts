import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INVARIANT_MUTANTS } from "../../scripts/mutants/invariants.mjs";
import { ROOT } from "../support/npm-start.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const NUMBERS = Array.from({ length: 8 }, (_, index) => `T${index + 1}`);

test.each(NUMBERS)(
  "%s stands in the head of the turn and on the page, with the same words",
  (number) => {
    const head = read("src/team/engine/durable-turn.ts").replaceAll(/\n\/\/ */g, " ");
    const page = read("docs/design/engine.md");
    const [, stated = ""] = new RegExp(`\\| ${number} \\| ([^|]*) \\|`).exec(page) ?? [];
    expect(stated).not.toBe("");
    expect(head).toContain(` ${number} ${stated}`);
  },
);

test.each(NUMBERS)(
  "%s has a test whose title begins with it, and a mutant that breaks it",
  (number) => {
    const tests = globSync("test/{team,core,chaos}/**/*.test.ts", { cwd: ROOT });
    expect(tests.filter((file) => read(file).includes(`"${number}: `))).not.toEqual([]);
    expect(INVARIANT_MUTANTS.filter(({ invariant }) => invariant === number)).not.toEqual([]);
  },
);

test("each mutant of an invariant finds its place exactly once", () => {
  for (const { file, text } of INVARIANT_MUTANTS) {
    expect(read(file).split(text), `${file}: ${text}`).toHaveLength(2);
  }
});
