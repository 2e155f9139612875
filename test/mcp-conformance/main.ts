// The official suite of the Model Context Protocol against the MCP server of the built Worker.
//
// It runs what each revision requires. Most of the scenarios call tools, resources and prompts of the suite's own example server:
// where a team, a thread or a template can stand in for one, the Worker of this folder has it. The files of expected failures name the
// other scenarios, with the reason. Any other failure, and a success of a scenario that is named there, fails.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TestWorker } from "../support/worker.ts";
import { newTeam } from "../api/protocols/support/teams.ts";
import { jsonInit } from "../support/http-app.ts";
import { SoundSandbox } from "./sandbox.ts";
import { PNG, TEAMS } from "./worker/teams.ts";

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

const sandbox = new SoundSandbox();
await using worker = await TestWorker.start(
  { SANDBOX_URL: "https://sandbox.example.com" },
  {
    entry: "test/mcp-conformance/worker/main.ts",
    quietAbout: "failing",
    outgoing: (request) => sandbox.answer(request),
  },
);
for (const [id, component] of Object.entries(TEAMS)) await newTeam(worker, { id, component });
// The thread that the scenarios of resources read. Its first message has a picture.
await newTeam(worker, { id: "123", component: TEAMS.greet });
const content = [JSON.stringify({ name: "123" }), { data: PNG }];
const task = { type: "MultiModalMessage", source: "user", content };
const said = await worker.fetch("/v1/teams/123/runs?wait=60", jsonInit({ task }));
if (!said.ok) throw new Error(await said.text());
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
