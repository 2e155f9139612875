import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtWorker } from "../support/built-worker.ts";
import { rowsOf } from "../support/samples.ts";
import { ROOT } from "../support/npm-start.ts";
import { snippet } from "../support/pages.ts";

let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "troupe-staging-"));
  const worker = await builtWorker();
  symlinkSync(worker.directory, join(directory, "dist"));
  symlinkSync(join(ROOT, "console"), join(directory, "console"));
  // It is built already.
  const config = readFileSync(join(ROOT, "wrangler.toml"), "utf8").replace(
    /^\[build\]\n(?:.+\n)+/m,
    "",
  );
  const staging = snippet("Staging", "toml", 0, "docs/deploying.md");
  writeFileSync(join(directory, "wrangler.toml"), `${config}\n${staging}`);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.for(rowsOf("environments", ["staging", ""]))(
  "wrangler deploys the environment %j of the page",
  async (name) => {
    const { stdout, stderr } = await promisify(execFile)(
      join(ROOT, "node_modules/.bin/wrangler"),
      ["deploy", "--dry-run", `--env=${name}`],
      { cwd: directory, env: { ...process.env, CI: "1" } },
    );
    expect(stdout).toMatch(/env\.TEAM \(TeamObject[^)]*\) +Durable Object/);
    expect(stdout).toMatch(/env\.TENANT \(TenantObject[^)]*\) +Durable Object/);
    expect(stdout).toMatch(/env\.CONSOLE_FILES/);
    expect(`${stdout}${stderr}`).not.toMatch(/WARNING|not inherited/);
  },
);
