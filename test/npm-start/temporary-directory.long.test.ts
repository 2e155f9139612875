import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { rowsOf } from "../support/samples.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-tmpdir-"));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.for(rowsOf("temporary directories", ["elsewhere", "missing"]))(
  "npm start runs teams with TMPDIR as a directory that is %s",
  async (name) => {
    const TMPDIR = join(directory, name);
    if (name === "elsewhere") mkdirSync(TMPDIR);
    const persistTo = mkdtempSync(join(directory, "state-"));
    await using server = await NpmStart.ready({
      port: await freePort(),
      persistTo,
      settings: { TMPDIR },
    });
    await fetch(`${server.url}/v1/teams`, jsonInit({ id: "t", template: "writer_critic" }));
    const run = jsonInit({ task: "Go." });
    const response = await fetch(`${server.url}/v1/teams/t/runs?wait=60`, run);
    expect((await response.json()) as RunInfo).toMatchObject({ status: "completed" });
  },
);
