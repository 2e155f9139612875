// `npm test` runs the checks for every change, `npm run test:long` those that take minutes; CI runs both (`npm test -- --all`).
// `npm test -- lint node` runs only the stages named, `npm test -- checks` those that run no code. Two stages run at a time: tests
// wait more than they compute.
//
// `npm test` does not run a stage again that passed when all it reads was as it is now: it says `same`, and counts its tests as
// skipped. Tests that try many cases in turn try a sample of them. With --all everything runs, with all cases; with --matrix tests
// try each row of their matrices, such as the widths of pages (`npm run test:matrix`).
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
import { CHECKS, reportFile, stagesIn } from "./check/stages.mjs";
import { hashOfReads, keepPass, passedBefore } from "./check/unchanged.mjs";

const root = resolve(import.meta.dirname, "..");
const scratch = mkdtempSync(join(tmpdir(), "troupe-check-"));
/** What all stages together have built of the Worker. */
const builds = mkdtempSync(join(scratch, "builds-"));

/** @typedef {import("./check/stages.mjs").Stage} Stage */
/** @typedef {{ passed: number, failed: number, skipped: string[] }} Counted `skipped` has the names of the tests */

/** What a bare machine has besides the packages of `npm ci`: a shell, npm and coreutils. */
const BARE_PROGRAMS = `sh npm
  basename cat chmod chown cp cut date dd dirname env false head id ln ls mkdir mkfifo mktemp mv nproc printf pwd readlink
  realpath rm rmdir seq sha256sum sleep sort stat tail tee touch tr true uname uniq wc yes`.split(
  /\s+/,
);

/**
 * Counts the tests of a stage, from its report or its output.
 *
 * @type {Record<"vitest" | "lastLine", (stage: Stage, output: string) => Counted | undefined>}
 */
const counters = {
  vitest(stage) {
    try {
      /** @type {Report} */
      const report = JSON.parse(readFileSync(reportFile(scratch, stage.name), "utf8"));
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
  const reading = hashOfReads(stage);
  const before = skipsUnchanged ? passedBefore(stage.name, reading) : undefined;
  if (before !== undefined) {
    console.log(
      `same ${stage.name.padEnd(16)}  unchanged since it passed  ${inWords(0, 0, before)}`,
    );
    return { passed: 0, failed: 0, skipped: before };
  }
  const started = performance.now();
  const path = stage.bare ? barePath() : process.env.PATH;
  const ready = stage.packages === undefined ? INSTALLED : await installed(stage.packages);
  const { code, output } = ready.code === 0 ? await execute(stage.run, path, stage.env) : ready;
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
  // Not where a file was changed meanwhile.
  if (failed === 0 && hashOfReads(stage) === reading) {
    keepPass(stage.name, reading, passed + skipped.length);
  }
  // Its tests are counted in another stage, which skips only what this machine lacks.
  if (stage.bare) return { passed: failed > 0 ? 0 : 1, failed, skipped: 0 };
  return { passed, failed, skipped: skipped.length };
}

const INSTALLED = { code: 0, output: "" };
/** @type {Map<string, ReturnType<typeof execute>>} */
const installations = new Map();

/** Installs the packages of a folder, once for all stages. @param {string} folder */
function installed(folder) {
  const options = ["--prefix", folder, "--loglevel=error", "--no-audit", "--no-fund"];
  const installation =
    installations.get(folder) ?? execute(["npm", "ci", ...options], process.env.PATH);
  installations.set(folder, installation);
  return installation;
}

/** @param {number} passed @param {number} failed @param {number} skipped */
function inWords(passed, failed, skipped) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** A stage that hangs must not take the time of all others: the longest takes half of this on two idle cores. */
const LIMIT_MINUTES = 60;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/** @param {import("node:child_process").ChildProcess} child */
function killGroup({ pid }) {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}

// Stages have process groups of their own, which Ctrl-C does not reach.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.once(signal, () => {
    running.forEach(killGroup);
    process.exit(1);
  });
}

/**
 * @param {string[]} command
 * @param {string | undefined} path where programs are found that are not in node_modules/.bin
 * @param {Record<string, string>} [env]
 * @returns {Promise<{ code: number, output: string }>}
 */
function execute([program = "", ...args], path, env) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: root,
      // Its own process group, so that a stage that hangs ends with all that it has started.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}${delimiter}${path}`,
        WRANGLER_SEND_METRICS: "false",
        WRANGLER_SEND_ERROR_REPORTS: "false",
        WRANGLER_HIDE_BANNER: "true",
        CLOUDFLARE_CF_FETCH_ENABLED: "false",
        TROUPE_TEST_BUILDS: builds,
        ...env,
        ...((options.all || options.long) && { TROUPE_TEST_ALL_CASES: "1" }),
        ...(options.matrix && { TROUPE_TEST_ALL_ROWS: "1" }),
      },
    });
    let output = "";
    const collect = (/** @type {string} */ chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    const limit = setTimeout(() => {
      output += `\nThe stage was ended: it ran for more than ${LIMIT_MINUTES} minutes.\n`;
      killGroup(child);
    }, LIMIT_MINUTES * 60_000);
    running.add(child);
    const ended = (/** @type {number} */ code, /** @type {string} */ all) => {
      clearTimeout(limit);
      running.delete(child);
      done({ code, output: all });
    };
    child.on("error", (error) => ended(1, `${program}: ${error.message}`));
    child.on("close", (code) => ended(code ?? 1, output));
  });
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { long: { type: "boolean" }, all: { type: "boolean" }, matrix: { type: "boolean" } },
});
const stages = stagesIn(scratch);
const named = positionals.flatMap((name) => (name === "checks" ? CHECKS : name));
/** A stage that is named itself, and all in CI, with --all and with --long, run also where nothing has changed. */
const skipsUnchanged =
  positionals.every((name) => name === "checks") &&
  !options.all &&
  !options.long &&
  process.env.CI === undefined;
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
