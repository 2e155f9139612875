// The official suite of the Model Context Protocol against the MCP server of the built Worker.
//
// It runs what each revision requires. Most of the scenarios call tools and resources of the suite's own example server, which a server
// of teams does not have: the files of expected failures name those, with the reason. Any other failure, and a success of a
// scenario that is named there, fails.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TestWorker } from "../support/worker.ts";
import { newTeam } from "../api/protocols/support/teams.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";

const LONGEST_MS = 240_000;

const suite = join(
  dirname(
    createRequire(join(import.meta.dirname, "suite/package.json")).resolve(
      "@modelcontextprotocol/conformance/package.json",
    ),
  ),
  "dist/index.js",
);
const results = mkdtempSync(join(tmpdir(), "mcp-conformance-"));

await using worker = await TestWorker.start();
await newTeam(worker, { id: "desk", label: "Desk", component: SAMPLE_COMPONENT });
for (const revision of ["2025-11-25", "2026-07-28"]) {
  const args = [
    suite,
    "server",
    `--url=${new URL("/mcp", await worker.origin).href}`,
    `--requirements=${revision}`,
    `--expected-failures=${join(import.meta.dirname, `expected-failures/${revision}.yml`)}`,
    `--output-dir=${results}`,
  ];
  const child = spawn(process.execPath, args, { stdio: "inherit", timeout: LONGEST_MS });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) process.exitCode = code ?? 1;
}
rmSync(results, { recursive: true, force: true });
