import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";

/** The share of the source folders that have tests in a folder of the same path. */
const LEAST_SHARE = 0.9;

test("the configuration of Vitest names no test file: suffixes and folders say where tests run", () => {
  const config = readFileSync(join(ROOT, "vitest.config.ts"), "utf8");
  const patterns = [...config.matchAll(/["`]([^"`]*\.test\.ts)["`]/g)].map(
    ([, pattern = ""]) => pattern,
  );
  expect(patterns.length).toBeGreaterThan(4);
  expect(patterns.filter((pattern) => !/\/\*(\.[a-z]+)?\.test\.ts$/.test(pattern))).toEqual([]);
});

test("tests stand in the folders of what they test", () => {
  const folders = [...new Set(globSync("src/**/*.{ts,tsx}", { cwd: ROOT }).map(dirname))];
  expect(folders.length).toBeGreaterThan(100);
  const without = folders.filter((folder) => {
    const tests = join(ROOT, "test", relative("src", folder));
    return !existsSync(tests) || globSync("**/*.test.ts", { cwd: tests }).length === 0;
  });
  expect(without.length / folders.length, without.join("\n")).toBeLessThan(1 - LEAST_SHARE);
});
