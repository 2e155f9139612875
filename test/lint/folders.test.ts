import { expect, test } from "vitest";
import { importsOf, mutualFolders } from "../../scripts/check/import-graph.mjs";

test("no two folders beside each other import each other", () => {
  const imports = importsOf(["src"]).filter(({ to }) => to.startsWith("src/"));
  expect(imports.length).toBeGreaterThan(1_000);
  expect(mutualFolders(imports)).toEqual([]);
});

test("two folders that import each other are found, also by what is below them", () => {
  const imports = [
    { from: "core/agents/inner/a.ts", to: "core/teams/b.ts" },
    { from: "core/teams/c.ts", to: "core/agents/d.ts" },
    { from: "core/teams/c.ts", to: "core/teams/below/e.ts" },
    { from: "core/teams/below/e.ts", to: "core/teams/c.ts" },
  ];
  expect(mutualFolders(imports)).toEqual([
    "core: agents <-> teams (core/agents/inner/a.ts imports core/teams/b.ts)",
  ]);
});
