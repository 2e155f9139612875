// `npm run mutants` changes the code of a team's object at single places, one at a time, and runs the tests: a mutant that no
// test notices has survived. It tries a sample; docs/contributing/testing.md says how to read the result.
//
//   npm run mutants -- --count 40 --seed 7     another sample
//   npm run mutants -- src/team/engine         only files below a path
//   npm run mutants -- --invariants            changes that break what must hold of a durable turn, one by one
//
// It works in a copy of the project, with the packages of this one.

import "./require-node.mjs";
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { INVARIANT_MUTANTS } from "./mutants/invariants.mjs";
import { mutated, mutationsOf } from "./mutants/mutations.mjs";

const root = resolve(import.meta.dirname, "..");

/** What is changed unless paths are named, and the tests that are most likely to notice; all others run after them. */
const AREAS = [
  { below: "src/team/engine/", first: "test/team/engine/" },
  { below: "src/team/storage/", first: "test/team/storage/" },
  { below: "src/sqlite/", first: "test/sqlite/" },
];
const TESTS = ["test/sqlite/", "test/team/", "test/tenant/"];
/** What the tests of an invariant begin with. */
const INVARIANT_TESTS = ["test/team/engine/invariants.workerd.test.ts", "test/team/stream/"];
/** A mutant that does not end is one that the tests have noticed. */
const LONGEST_MS = 600_000;

/** @typedef {import("./mutants/mutations.mjs").Mutation & { file: string, text: string, invariant?: string }} Mutant */
/** @typedef {{ outcome: "passed" | "failed" | "timeout", output: string }} Ran */

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "20" },
    invariants: { type: "boolean", default: false },
  },
});

const all = options.invariants
  ? invariantMutants()
  : mutantsBelow(paths.length > 0 ? paths : AREAS.map(({ below }) => below));
const chosen = options.invariants ? all : sample(all, Number(options.count), Number(options.seed));
console.log(`${chosen.length} of ${all.length} mutants, seed ${options.seed}`);

const copy = mkdtempSync(join(tmpdir(), "troupe-mutants-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
  process.on(signal, () => process.exit(130));
}
copyProject();
const unchanged = await runTests(options.invariants ? INVARIANT_TESTS : TESTS);
if (unchanged.outcome !== "passed") {
  console.error(`${unchanged.output}\nThe tests fail without a mutation: mend them first.`);
  process.exit(1);
}

/** @type {Mutant[]} */
const survivors = [];
for (const mutant of chosen) {
  const started = performance.now();
  const noticed = await isNoticed(mutant);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${noticed ? "killed  " : "SURVIVED"} ${seconds.padStart(4)} s  ${inWords(mutant)}`);
  if (!noticed) survivors.push(mutant);
}
console.log(`${chosen.length - survivors.length} killed, ${survivors.length} survived`);

/** @param {string[]} places @returns {Mutant[]} */
function mutantsBelow(places) {
  const files = places.flatMap((place) =>
    place.endsWith(".ts") ? [place] : globSync(join(place, "**/*.ts"), { cwd: root }),
  );
  return [...new Set(files)].toSorted().flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return mutationsOf(file, text).map((mutation) => ({ ...mutation, file, text }));
  });
}

/** @returns {Mutant[]} */
function invariantMutants() {
  return INVARIANT_MUTANTS.map(({ invariant, file, text: found, replacement }) => {
    const text = readFileSync(join(root, file), "utf8");
    const start = text.indexOf(found);
    if (start === -1) throw new Error(`${file} has no longer: ${found}`);
    return {
      invariant,
      file,
      text,
      start,
      end: start + found.length,
      replacement,
      kind: invariant,
    };
  });
}

/**
 * Some of them, the same for the same seed, in the order of their files.
 *
 * @template T
 * @param {T[]} from
 * @param {number} count
 * @param {number} seed
 */
function sample(from, count, seed) {
  let state = seed;
  // Mulberry32.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return from
    .map((one, index) => ({ one, index, rank: random() }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
    .toSorted((a, b) => a.index - b.index)
    .map(({ one }) => one);
}

function copyProject() {
  const git = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const files = execFileSync("git", git, { cwd: root, maxBuffer: 2 ** 28 });
  for (const file of String(files).split("\0").filter(Boolean)) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}

/** @param {Mutant} mutant */
async function isNoticed(mutant) {
  const path = join(copy, mutant.file);
  writeFileSync(path, mutated(mutant.text, mutant));
  try {
    if (mutant.invariant !== undefined) {
      const named = ["--testNamePattern", `${mutant.invariant}:`];
      return (await runTests([...INVARIANT_TESTS, ...named])).outcome !== "passed";
    }
    const area = AREAS.find(({ below }) => mutant.file.startsWith(below))?.first;
    const likely = [ownTests(mutant.file), area === undefined ? [] : [area]];
    for (const tests of [...likely.filter(({ length }) => length > 0), TESTS]) {
      if ((await runTests(tests)).outcome !== "passed") return true;
    }
    return false;
  } finally {
    writeFileSync(path, mutant.text);
  }
}

/** The tests of a file: those of the same path and name. @param {string} file @returns {string[]} */
function ownTests(file) {
  const name = file.replace(/^src/, "test").replace(/\.ts$/, "");
  return globSync(`${name}.workerd.test.ts`, { cwd: copy });
}

/** @param {string[]} tests @returns {Promise<Ran>} */
function runTests(tests) {
  return new Promise((done) => {
    const args = ["run", "--project=workerd", "--bail=1", "--reporter=dot", ...tests];
    const child = spawn(join(root, "node_modules/.bin/vitest"), args, {
      cwd: copy,
      stdio: ["ignore", "pipe", "pipe"],
      // Its workers end with it.
      detached: true,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => (output += text));
    }
    let late = false;
    const end = () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    process.on("exit", end);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, LONGEST_MS);
    child.on("close", (code) => {
      clearTimeout(timer);
      process.off("exit", end);
      done({ outcome: late ? "timeout" : code === 0 ? "passed" : "failed", output });
    });
  });
}

/** @param {Mutant} mutant */
function inWords({ file, text, start, end, replacement, kind }) {
  const line = text.slice(0, start).split("\n").length;
  const shown = (/** @type {string} */ code) => code.replaceAll(/\s+/g, " ").slice(0, 80);
  return `${file}:${line}  ${kind}: ${shown(text.slice(start, end))}  ->  ${shown(replacement)}`;
}
