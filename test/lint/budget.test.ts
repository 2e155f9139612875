import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { budgetFault, readBudget } from "../../scripts/budget.mjs";
import { ROOT } from "../support/npm-start.ts";

const { features, strays } = readBudget();

test("every file of the source belongs to a feature of the budget", () => {
  expect(strays).toEqual([]);
  const folders = features.flatMap((feature) => feature.folders);
  expect(folders.filter((folder) => !existsSync(join(ROOT, folder)))).toEqual([]);
  expect(new Set(folders).size).toBe(folders.length);
});

test("every feature fits its line in docs/contributing/budget.md", () => {
  expect(features.map(budgetFault).filter((fault) => fault !== undefined)).toEqual([]);
});

test.each([
  [1000, 1000, undefined],
  [1000, 1001, '"x" has 1,001 lines, 1 more than its budget'],
  [1000, 860, undefined],
  [1000, 820, '"x" has only 820 of 1,000 lines'],
  [10_000, 9300, undefined],
  [10_000, 9200, "budget.md to 9,400"],
  [500, 0, '"x" has only 0 of 500 lines'],
])("a limit of %i lines and a feature of %i lines: %s", (limit, lines, says) => {
  const fault = budgetFault({ feature: "x", folders: ["src/x"], limit, lines });
  if (says === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(says);
});
