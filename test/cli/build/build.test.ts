import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildProject } from "#cli/build/build.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-build-"));
  symlinkSync(resolve(import.meta.dirname, "../../../node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, "dist"));
  writeFileSync(join(root, "dist/index.html"), "<p>page</p>");
  writeFileSync(join(root, "worker.js"), "export default {};");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const CONFIG = 'name = "mine"\nmain = "worker.js"\ncompatibility_date = "2026-09-01"\n';
const ASSETS = '[assets]\nbinding = "PAGES"\nrun_worker_first = true\ndirectory = "./dist"\n';

test.each([
  ["static assets", CONFIG + ASSETS, /static assets are in dist, which this command replaces/],
  ["files of something else", CONFIG, /dist has files that troupe build did not write/],
])("a build does not replace a dist with %s", async (_what, config, message) => {
  writeFileSync(join(root, "wrangler.toml"), config);
  await expect(buildProject({ root, env: undefined })).rejects.toThrow(message);
  expect(existsSync(join(root, "dist/index.html"))).toBe(true);
});
