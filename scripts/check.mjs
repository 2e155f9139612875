// `npm test` runs the checks for every change, `npm run test:long` those that take minutes; CI runs both (`npm test -- --all`).
// `npm test -- lint node` runs only the stages named. Two stages run at a time: tests wait more than they compute.
//
// Prints a line for each stage with its time, the output of stages that fail, the names of tests that were skipped, and as the
// very last line `N passed, N failed`, or `N passed, N failed, N skipped`: the number of tests of stages that count them, one
// for each other stage.

import "./require-node.mjs";
import { spawn } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { OWN_CODE, OWN_FILES } from "./check/own-files.mjs";

const root = resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "troupe-check-"));
/** What all stages together have built of the Worker. */
const builds = mkdtempSync(join(scratch, "builds-"));

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string[]} run the command, found in node_modules/.bin
 * @property {keyof typeof counters} [counts] how its tests are counted; without it, the stage counts as one
 * @property {true} [long] whether it is left out of `npm test`
 * @property {true} [named] whether it runs only when it is named
 * @property {true} [bare] whether programs are found as on a bare machine
 */

/** @typedef {{ passed: number, failed: number, skipped: string[] }} Counted `skipped` has the names of the tests */

/** Tests of code that starts programs. They must pass, or skip themselves, on a machine that has hardly any. */
const PROGRAM_TESTS = [
  "test/sandbox/executions.test.ts",
  "test/sandbox/files.test.ts",
  "test/sandbox/http.test.ts",
  "test/sandbox/process.test.ts",
  "test/sandbox/walls.test.ts",
  "test/sandbox/cgroups.test.ts",
  "test/core/python/prepare.test.ts",
  "test/http/python-tools.test.ts",
  "test/npm-start/start.test.ts",
];

/** What a bare machine has besides the packages of `npm ci`: a shell, npm and coreutils. */
const BARE_PROGRAMS = `sh npm
  basename cat chmod chown cp cut date dd dirname env false head id ln ls mkdir mkfifo mktemp mv nproc printf pwd readlink
  realpath rm rmdir seq sha256sum sleep sort stat tail tee touch tr true uname uniq wc yes`.split(
  /\s+/,
);

/**
 * Those that take long stand first, so that the short ones run beside them.
 *
 * @type {Stage[]}
 */
const stages = [
  { name: "node", run: vitest("node"), counts: "vitest" },
  { name: "workerd", run: vitest("workerd"), counts: "vitest" },
  { name: "format", run: ["oxfmt", "--check", ...OWN_FILES] },
  { name: "lint", run: ["oxlint", "--type-aware", ...OWN_CODE] },
  { name: "types:src", run: ["tsc", "-p", "tsconfig.src.json"] },
  { name: "types:core", run: ["tsc", "-p", "tsconfig.core.json"] },
  { name: "types:node", run: ["tsc", "-p", "tsconfig.node.json"] },
  { name: "types:workerd", run: ["tsc", "-p", "tsconfig.workerd.json"] },
  { name: "types:browser", run: ["tsc", "-p", "tsconfig.browser.json"] },
  { name: "types:console", run: ["tsc", "-p", "tsconfig.console.json"] },
  { name: "api", run: ["node", "scripts/api-report.mjs", "--check"] },
  { name: "reference", run: ["node", "scripts/reference.mjs", "--check"], long: true },
  { name: "dead-code", run: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "package", run: vitest("package"), counts: "vitest", long: true },
  { name: "package-long", run: vitest("package-long"), counts: "vitest", long: true },
  { name: "copilotkit", run: vitest("package-named"), counts: "vitest", named: true },
  { name: "long", run: vitest("long"), counts: "vitest", long: true },
  { name: "features", run: vitest("features"), counts: "vitest", long: true },
  {
    name: "bare-machine",
    run: vitest(["node", "long"], "bare-machine", PROGRAM_TESTS),
    counts: "vitest",
    bare: true,
    long: true,
  },
  { name: "conformance", run: ["node", "test/conformance/main.ts"], counts: "lastLine" },
  {
    name: "conformance:http",
    run: ["node", "test/conformance/main.ts", "--http"],
    counts: "lastLine",
    long: true,
  },
  { name: "conformance:mcp", run: ["node", "test/mcp-conformance/main.ts"], long: true },
  { name: "chaos", run: ["node", "test/chaos/main.ts"], counts: "lastLine", long: true },
  { name: "bench", run: ["node", "bench/main.ts", "--smoke", "chat", "watchers"], long: true },
  { name: "mcp:client", run: mcpClientSuite(), long: true },
  { name: "bundle", run: ["wrangler", "deploy", "--dry-run", "--outdir", join(scratch, "bundle")] },
];

/**
 * Counts the tests of a stage, from its report or its output.
 *
 * @type {Record<"vitest" | "lastLine", (stage: Stage, output: string) => Counted | undefined>}
 */
const counters = {
  vitest(stage) {
    try {
      /** @type {Report} */
      const report = JSON.parse(readFileSync(reportFile(stage.name), "utf8"));
      const skipped = report.testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === "skipped" || status === "pending")
          .map(({ fullName }) => `${relative(root, name)}: ${fullName}`),
      );
      return { passed: report.numPassedTests, failed: report.numFailedTests, skipped };
    } catch {
      // vitest ended before it could write its report.
      return undefined;
    }
  },
  /** For our own runners, whose last line is like the one of this script. */
  lastLine(_stage, output) {
    const match = /(\d+) passed, (\d+) failed\s*$/.exec(output);
    if (match === null) return undefined;
    return { passed: Number(match[1]), failed: Number(match[2]), skipped: [] };
  },
};

/**
 * @typedef {object} Report what we read of vitest's JSON report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {{ name: string, assertionResults: { status: string, fullName: string }[] }[]} testResults
 */

/** @param {string | string[]} projects @param {string} [stage] @param {string[]} [files] */
function vitest(projects, stage = String(projects), files = []) {
  const flags = [projects].flat().map((project) => `--project=${project}`);
  const reporters = [
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile(stage)}`,
  ];
  return ["vitest", "run", ...flags, ...reporters, ...files];
}

/** The official conformance suite of MCP for clients. Each scenario has two minutes; all run side by side. */
function mcpClientSuite() {
  const directory = "test/mcp/conformance";
  const command = `node ${directory}/client.ts`;
  const failures = `${directory}/expected-failures.yml`;
  const results = join(scratch, "mcp-client");
  return ["conformance", "client", "--suite", "all", "--timeout", "120000"].concat(
    ["--command", command],
    ["--expected-failures", failures],
    ["--output-dir", results],
  );
}

/** @param {string} stage */
function reportFile(stage) {
  return join(scratch, `${stage}.json`);
}

/** Makes a directory of links to the programs of a bare machine. */
function barePath() {
  const directory = join(scratch, "bin");
  mkdirSync(directory);
  // The sandbox's tests run programs as other users, when they run as root.
  chmodSync(scratch, 0o711);
  const path = (process.env.PATH ?? "").split(delimiter);
  for (const program of BARE_PROGRAMS) {
    const found = path.map((one) => join(one, program)).find(isExecutable);
    if (found !== undefined) symlinkSync(found, join(directory, program));
  }
  return directory;
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {Stage} stage */
async function run(stage) {
  const started = performance.now();
  const { code, output } = await execute(stage.run, stage.bare ? barePath() : process.env.PATH);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const counted = stage.counts && counters[stage.counts](stage, output);
  const passed = counted?.passed ?? (code === 0 && !stage.counts ? 1 : 0);
  const skipped = counted?.skipped ?? [];
  // A stage can fail without a failing test: a file that does not load, or no report at all.
  const bad = code !== 0 || (stage.counts !== undefined && counted === undefined);
  const failed = Math.max(counted?.failed ?? 0, bad ? 1 : 0);
  const note = stage.counts ? `  ${inWords(passed, failed, skipped.length)}` : "";
  if (failed > 0) process.stdout.write(`${output.trimEnd()}\n`);
  console.log(
    `${failed > 0 ? "FAIL" : "ok  "} ${stage.name.padEnd(16)} ${seconds.padStart(6)} s${note}`,
  );
  for (const name of skipped) console.log(`     skipped ${name}`);
  // Its tests are counted in another stage, which skips only what this machine lacks.
  if (stage.bare) return { passed: failed > 0 ? 0 : 1, failed, skipped: 0 };
  return { passed, failed, skipped: skipped.length };
}

/** @param {number} passed @param {number} failed @param {number} skipped */
function inWords(passed, failed, skipped) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/**
 * @param {string[]} command
 * @param {string | undefined} path where programs are found that are not in node_modules/.bin
 * @returns {Promise<{ code: number, output: string }>}
 */
function execute([program = "", ...args], path) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}${delimiter}${path}`,
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_SEND_ERROR_REPORTS: "false",
        WRANGLER_HIDE_BANNER: "true",
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        TROUPE_TEST_BUILDS: builds,
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

const { values: options, positionals: named } = parseArgs({
  allowPositionals: true,
  options: { long: { type: "boolean" }, all: { type: "boolean" } },
});
const unknown = named.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  console.error(
    `No such stage: ${unknown.join(", ")}. There are ${stages.map(({ name }) => name).join(", ")}.`,
  );
  process.exit(2);
}

const chosen = stages.filter(({ name, long = false, named: onlyNamed }) => {
  if (named.length > 0) return named.includes(name);
  if (onlyNamed) return false;
  return options.all === true || long === (options.long === true);
});
const waiting = chosen.values();
const total = { passed: 0, failed: 0, skipped: 0 };

/** Runs stages until none is waiting. */
async function runWaiting() {
  for (const stage of waiting) {
    const { passed, failed, skipped } = await run(stage);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
}

await Promise.all([runWaiting(), runWaiting()]);
rmSync(scratch, { recursive: true, force: true });
console.log(inWords(total.passed, total.failed, total.skipped));
process.exitCode = total.failed > 0 ? 1 : 0;
