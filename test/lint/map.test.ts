import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readMap } from "../../scripts/map.mjs";

const ROOT = join(import.meta.dirname, "../..");

test("the map of the source has every folder with its purpose (npm run map)", () => {
  const { current, wanted } = readMap();
  expect(current).toBe(wanted);
  expect(wanted).not.toContain(" |  | ");
});

test("files that the pages for contributors name exist", () => {
  const files = new Set(
    globSync("{src,test,scripts,sandbox,console,bench}/**/*.{ts,tsx,mjs,py}", {
      cwd: ROOT,
      exclude: ["**/node_modules"],
    }).flatMap((file) => {
      const parts = file.split("/");
      return parts.map((_, index) => parts.slice(index).join("/"));
    }),
  );
  const pages = globSync("{ARCHITECTURE.md,docs/{contributing,design}/*.md}", { cwd: ROOT });
  const named = pages.flatMap((page) =>
    Array.from(
      readFileSync(join(ROOT, page), "utf8").matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|py))`/g),
      ([, file = ""]) => `${page}: ${file}`,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  const missing = named.filter((name) => {
    const [, file = ""] = name.split(": ");
    return !/\bNAME\b/.test(file) && !files.has(file) && !existsSync(join(ROOT, file));
  });
  expect(missing).toEqual([]);
});
