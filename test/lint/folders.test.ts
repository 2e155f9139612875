import { expect, test } from "vitest";
import { importsOf, mutualFolders, mutualRooms } from "../../scripts/check/import-graph.mjs";

const imports = importsOf(["src"]).filter(({ to }) => to.startsWith("src/"));

test("no two folders beside each other import each other", () => {
  expect(imports.length).toBeGreaterThan(1_000);
  expect(mutualFolders(imports)).toEqual([]);
});

test("a subfolder knows nothing of a parent that imports it", () => {
  expect(mutualRooms(imports)).toEqual([]);
});

test("a subfolder that imports a parent by which it is imported is found, however deep it is", () => {
  const pairs = mutualRooms([
    { from: "core/agents/a.ts", to: "core/agents/inner/deep/b.ts" },
    { from: "core/agents/inner/deep/b.ts", to: "core/agents/c.ts" },
    { from: "core/agents/inner/d.ts", to: "core/agents/c.ts" },
    { from: "core/agents/a.ts", to: "core/agents/other/e.ts" },
    { from: "core/agents/inner/d.ts", to: "core/agents/other/e.ts" },
  ]);
  expect(pairs).toEqual([
    {
      parent: "core/agents",
      room: "core/agents/inner/deep",
      imports: ["core/agents/inner/deep/b.ts imports core/agents/c.ts"],
    },
  ]);
});

test("two folders that import each other are found, also by their subfolders", () => {
  const between = [
    { from: "core/agents/inner/a.ts", to: "core/teams/b.ts" },
    { from: "core/teams/c.ts", to: "core/agents/d.ts" },
    { from: "core/teams/c.ts", to: "core/teams/below/e.ts" },
    { from: "core/teams/below/e.ts", to: "core/teams/c.ts" },
  ];
  expect(mutualFolders(between)).toEqual([
    "core: agents <-> teams (core/agents/inner/a.ts imports core/teams/b.ts)",
  ]);
});
