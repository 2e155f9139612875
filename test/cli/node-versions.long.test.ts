import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/npm-start.ts";

/** What `npm start -- --help` and `npm test -- none` print with an npm that runs in a version of Node. */
async function started(script: string, args: string[], version: string): Promise<string> {
  const agent = `npm/10.8.2 node/v${version} linux x64 workspaces/false`;
  const env = { ...process.env, npm_config_user_agent: agent };
  const result = await promisify(execFile)(process.execPath, [join(ROOT, script), ...args], {
    env,
  }).catch((error: { code: number; stderr: string }) => error);
  return "code" in result ? `${result.code}: ${result.stderr}` : result.stdout;
}

const SENTENCE =
  "This repository needs an npm that runs in Node 20.19 or later of 20, or in 22.12 or later";

test.for(["18.20.8", "20.18.3", "21.7.3", "22.11.0"])(
  "the repository's commands name the Node that they need under Node %s",
  async (version) => {
    for (const script of ["scripts/start.mjs", "scripts/check.mjs"]) {
      const output = await started(script, ["--help"], version);
      expect(output).toBe(
        `1: ${SENTENCE}; this one runs in ${version}. Install another Node, and repeat npm ci.\n`,
      );
    }
  },
);

test.for(["20.19.0", "20.20.2", "22.12.0", "23.0.0", "24.0.0", "26.10.0"])(
  "the commands run under Node %s",
  async (version) => {
    expect(await started("scripts/start.mjs", ["--help"], version)).toContain("--auth");
    expect(await started("scripts/check.mjs", ["none"], version)).toContain("No such stage: none.");
  },
);
