// The official suite of the Model Context Protocol for clients. It starts a process for each of its scenarios, all side by side: they
// share one file that is built before, because to load the sources in each took most of the machine.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "../../../..");
const scratch = mkdtempSync(join(tmpdir(), "mcp-client-"));
const client = join(scratch, "client.mjs");
await build({
  absWorkingDir: root,
  entryPoints: [join(import.meta.dirname, "client.ts")],
  outfile: client,
  bundle: true,
  format: "esm",
  platform: "node",
  // Packages of CommonJS that it contains ask for modules of Node.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
});
/** For what hangs, not for what is slow: a machine may be busy. */
const LONGEST_MS = 600_000;
const { status } = spawnSync(
  join(root, "test/mcp-conformance/suite/node_modules/.bin/conformance"),
  ["client", "--suite", "all", "--timeout", String(LONGEST_MS)].concat(
    ["--command", `node ${client}`],
    ["--expected-failures", join(import.meta.dirname, "expected-failures.yml")],
    ["--output-dir", join(scratch, "results")],
  ),
  { stdio: "inherit" },
);
rmSync(scratch, { recursive: true });
process.exitCode = status ?? 1;
