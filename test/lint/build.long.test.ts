import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildWorker } from "../../scripts/build.mjs";

test("a build refuses the dynamic import of a CommonJS package, whose names it would lose", async () => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-build-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const entry = "test/lint/worker/dynamic-commonjs.ts";
  await expect(buildWorker(entry, directory)).rejects.toThrow(
    `${entry} imports node_modules/standardwebhooks/dist/index.js dynamically. It is CommonJS`,
  );
});
