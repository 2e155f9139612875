import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";

const SCRIPT = "scripts/check/small-files.mjs";
const GRAPH = "scripts/check/import-graph.mjs";
const LONG = "// A line.\n".repeat(40);

let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "troupe-small-files-"));
  const files = {
    "package.json": JSON.stringify({ imports: { "#core/*": "./src/core/*" } }),
    "src/index.ts":
      'import "./one.ts";\nimport "./long.ts";\nexport { two } from "./core/two.ts";\n',
    "src/one.ts": "export {};\n",
    "src/long.ts": LONG,
    "src/core/two.ts": "export const two = 2;\n",
    "src/core/aliased.ts": "export {};\n",
    "bench/main.ts":
      'import { two } from "#core/two.ts";\nconst lazy = import("#core/aliased.ts");\n',
  };
  for (const folder of ["console", "sandbox", "scripts/check"]) {
    mkdirSync(join(project, folder), { recursive: true });
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  for (const file of [SCRIPT, GRAPH]) cpSync(join(ROOT, file), join(project, file));
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test("short files with one importer are named with it", () => {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT], {
    cwd: project,
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr.split("\n").filter((line) => line.includes("only importer"))).toEqual([
    "src/one.ts belongs to its only importer, src/index.ts",
    "src/core/aliased.ts belongs to its only importer, bench/main.ts",
  ]);
});
