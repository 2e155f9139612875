// `npm test`: everything CI runs, stage by stage. `npm test -- lint node` runs only the stages named.
//
// A line per stage with its time, the output of those that fail, and as the very last line `N passed, N failed`: the
// number of tests where a stage counts them, else one per stage.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "troupe-check-"));

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string[]} run the command, found in node_modules/.bin
 * @property {keyof typeof counters} [counts] where its number of tests stands; left out, the stage counts as one
 */

/** @type {Stage[]} */
const stages = [
  { name: "format", run: ["oxfmt", "--check", "."] },
  { name: "lint", run: ["oxlint", "--type-aware"] },
  { name: "types:src", run: ["tsc", "-p", "tsconfig.src.json"] },
  { name: "types:core", run: ["tsc", "-p", "tsconfig.core.json"] },
  { name: "types:node", run: ["tsc", "-p", "tsconfig.node.json"] },
  { name: "types:workerd", run: ["tsc", "-p", "tsconfig.workerd.json"] },
  { name: "dead-code", run: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "node", run: vitest("node"), counts: "vitest" },
  { name: "workerd", run: vitest("workerd"), counts: "vitest" },
  { name: "conformance", run: ["node", "test/conformance/main.ts"], counts: "lastLine" },
  {
    name: "conformance:http",
    run: ["node", "test/conformance/main.ts", "--http"],
    counts: "lastLine",
  },
  { name: "chaos", run: ["node", "test/chaos/main.ts"], counts: "lastLine" },
  { name: "bundle", run: ["wrangler", "deploy", "--dry-run", "--outdir", join(scratch, "bundle")] },
];

/**
 * How a stage's tests are counted, from what it printed.
 *
 * @type {Record<"vitest" | "lastLine", (stage: Stage, output: string) => { passed: number, failed: number } | undefined>}
 */
const counters = {
  vitest(stage) {
    try {
      const report = JSON.parse(readFileSync(reportFile(stage.name), "utf8"));
      return { passed: report.numPassedTests, failed: report.numFailedTests };
    } catch {
      // vitest ended before it could write its report.
      return undefined;
    }
  },
  /** For our own runners, which end as this script does. */
  lastLine(_stage, output) {
    const match = /(\d+) passed, (\d+) failed\s*$/.exec(output);
    return match === null ? undefined : { passed: Number(match[1]), failed: Number(match[2]) };
  },
};

/** @param {string} project */
function vitest(project) {
  const reporters = [
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile(project)}`,
  ];
  return ["vitest", "run", "--project", project, ...reporters];
}

/** @param {string} project */
function reportFile(project) {
  return join(scratch, `${project}.json`);
}

/** @param {Stage} stage */
async function run(stage) {
  const started = performance.now();
  const { code, output } = await execute(stage.run);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counted = stage.counts && counters[stage.counts](stage, output);
  const passed = counted?.passed ?? (code === 0 && !stage.counts ? 1 : 0);
  // A stage can fail without a failing test: a file that does not load, or no report at all.
  const bad = code !== 0 || (stage.counts !== undefined && counted === undefined);
  const failed = Math.max(counted?.failed ?? 0, bad ? 1 : 0);
  const note = stage.counts ? `  ${passed} passed, ${failed} failed` : "";
  if (failed > 0) process.stdout.write(`${output.trimEnd()}\n`);
  console.log(
    `${failed > 0 ? "FAIL" : "ok  "} ${stage.name.padEnd(16)} ${seconds.padStart(6)} s${note}`,
  );
  return { passed, failed };
}

/**
 * @param {string[]} command
 * @returns {Promise<{ code: number, output: string }>}
 */
function execute([program = "", ...args]) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_SEND_ERROR_REPORTS: "false",
        WRANGLER_HIDE_BANNER: "true",
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
      },
    });
    let output = "";
    const collect = (/** @type {string} */ chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", (error) => done({ code: 1, output: `${program}: ${error.message}` }));
    child.on("close", (code) => done({ code: code ?? 1, output }));
  });
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  console.error(
    `No such stage: ${unknown.join(", ")}. There are ${stages.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const total = { passed: 0, failed: 0 };
for (const stage of stages) {
  if (named.length > 0 && !named.includes(stage.name)) continue;
  const { passed, failed } = await run(stage);
  total.passed += passed;
  total.failed += failed;
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 ? 1 : 0;
