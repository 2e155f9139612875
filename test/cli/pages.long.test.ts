import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { ROOT } from "../support/npm-start.ts";
import { file, snippets } from "../support/pages.ts";
import { findProgram, testWith } from "../support/programs.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";
import { zip } from "../support/zip.ts";

const SKILL = "refunds/SKILL.md";
const place = mkdtempSync(join(tmpdir(), "troupe-pages-"));

let worker: TestWorker;
let origin: string;

beforeAll(async () => {
  worker = await TestWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    EMAIL_DOMAIN: "agents.example.com",
  });
  origin = await worker.origin;
  const { teams } = new TroupeClient({ baseURL: origin });
  await teams.create({ id: "demo", component: SAMPLE_COMPONENT });
  mkdirSync(join(place, "refunds"));
  writeFileSync(join(place, SKILL), file(SKILL));
  writeFileSync(join(place, "refunds.zip"), zip([{ path: SKILL, content: file(SKILL) }]));
  program("npx", `shift; exec "${process.execPath}" "${ROOT}/src/cli/bin.ts" "$@"`);
  program("curl", `exec "${findProgram("curl")}" --silent --show-error --fail-with-body "$@"`);
});

afterAll(async () => {
  rmSync(place, { recursive: true });
  await worker[Symbol.asyncDispose]();
});

/** Stands in for a program of the machine. */
function program(name: string, script: string): void {
  const path = join(place, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

for (const page of [
  "docs/skills.md",
  "docs/task-board.md",
  "docs/team-versions.md",
  "docs/triggers.md",
]) {
  testWith("curl")(`the commands of ${page} succeed`, async () => {
    const commands = snippets.filter((one) => one.page === page && one.info === "run");
    const shell = commands.filter(({ language }) => language === "sh");
    expect(shell.length).toBeGreaterThan(0);
    for (const { code } of shell) {
      const script = code.replaceAll("http://127.0.0.1:8787", origin);
      const path = `${place}${delimiter}${process.env.PATH}`;
      const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
        cwd: place,
        env: { PATH: path, HOME: place, NO_COLOR: "1", TROUPE_URL: origin },
      });
      expect(stdout).not.toBe("");
    }
  });
}
