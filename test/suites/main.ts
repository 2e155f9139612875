// A suite that only GitHub or Python's index has, against the built Worker: npm run suite -- NAME CHECKOUT
//
// The checkout is at the pinned commit, and its own command is run. Each failure that is expected is named with its reason; any other
// one, and a success where a failure is expected, fails. Nothing of the suites is in this project.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { a2aTck } from "./a2a-tck.ts";
import { dojo } from "./dojo.ts";
import { openResponses } from "./open-responses.ts";
import { agentsPython, pydanticAI } from "./python-programs.ts";
import type { Outcome, Suite } from "./suite.ts";

const SUITES: Readonly<Record<string, Suite>> = {
  "a2a-tck": a2aTck,
  "agents-python": agentsPython,
  dojo,
  "open-responses": openResponses,
  "pydantic-ai": pydanticAI,
};

const LONGEST_MS = 20 * 60_000;

const [name = "", given = ""] = process.argv.slice(2);
const suite = SUITES[name];
if (suite === undefined || !existsSync(given)) {
  const names = Object.keys(SUITES).join(" or ");
  process.stderr.write(`npm run suite -- NAME CHECKOUT, with NAME ${names}, CHECKOUT a folder\n`);
  process.exit(2);
}
const checkout = resolve(given);
const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: checkout, encoding: "utf8" });
if (commit.trim() !== suite.commit) {
  process.stderr.write(
    `The checkout is at ${commit.trim()}, and this run is about ${suite.commit}.\n`,
  );
  process.exit(2);
}

await using stage = await suite.start();
const { command, args, env, outcomes } = stage.run(checkout);
const child = spawn(command, args, {
  cwd: checkout,
  env: { ...process.env, ...env },
  stdio: ["ignore", "pipe", "inherit"],
  timeout: LONGEST_MS,
});
let output = "";
child.stdout.setEncoding("utf8").on("data", (text: string) => {
  output += text;
  process.stdout.write(text);
});
await once(child, "close");

const tests = outcomes(output);
if (tests.length === 0) throw new Error(`${command} has reported no test`);
const unexpected = tests.filter((test) => !isExpected(test));
for (const { test, failed } of unexpected) {
  process.stdout.write(`${failed ? "failed" : "passed, and was expected to fail"}: ${test}\n`);
}
const { length: wrong } = unexpected;
process.stdout.write(`${tests.length - wrong} passed, ${wrong} failed\n`);
process.exitCode = wrong === 0 ? 0 : 1;

function isExpected({ test, failed }: Outcome): boolean {
  const expected = Object.keys(suite?.expectedFailures ?? {}).some((part) => test.includes(part));
  return failed === expected;
}
