import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
/** Has a file for each stage that has passed. */
const passes = join(root, "node_modules/.cache/troupe-check");

/**
 * A hash of what a stage reads; undefined where git does not know the files.
 *
 * @param {Pick<import("./stages.mjs").Stage, "run" | "reads">} stage
 * @param {string} [directory] the root of the project
 * @returns {string | undefined}
 */
export function hashOfReads({ run, reads = ["."] }, directory = root) {
  const files = filesIn(reads, directory);
  if (files === undefined) return undefined;
  const hash = createHash("sha256");
  // The directory of the run is another one each time.
  const command = run.filter((part) => !part.includes("troupe-check-"));
  hash.update(JSON.stringify([process.version, process.platform, process.arch, command]));
  for (const file of files) {
    hash.update(`\0${file}\0`);
    hash.update(contentOf(join(directory, file)));
  }
  return hash.digest("hex");
}

/**
 * How many tests there were when the stage last passed, if it read then what it reads now.
 *
 * @param {string} stage
 * @param {string | undefined} hash
 * @returns {number | undefined}
 */
export function passedBefore(stage, hash) {
  if (hash === undefined) return undefined;
  try {
    /** @type {{ hash: string, tests: number }} */
    const pass = JSON.parse(readFileSync(fileOf(stage), "utf8"));
    return pass.hash === hash ? pass.tests : undefined;
  } catch {
    // It has not passed yet.
    return undefined;
  }
}

/** @param {string} stage @param {string | undefined} hash @param {number} tests */
export function keepPass(stage, hash, tests) {
  if (hash === undefined) return;
  mkdirSync(passes, { recursive: true });
  writeFileSync(fileOf(stage), JSON.stringify({ hash, tests }));
}

/** @param {string} stage */
function fileOf(stage) {
  return join(passes, `${stage.replaceAll(":", "-")}.json`);
}

/**
 * Files that git tracks, and those that it would.
 *
 * @param {string[]} paths
 * @param {string} directory
 */
function filesIn(paths, directory) {
  try {
    const options = ["-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    const listed = execFileSync("git", ["ls-files", ...options, "--", ...paths], {
      cwd: directory,
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 2 ** 28,
    });
    return String(listed).split("\0").filter(Boolean).toSorted();
  } catch {
    return undefined;
  }
}

/** @param {string} path */
function contentOf(path) {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return readlinkSync(path);
  return stats?.isFile() ? readFileSync(path) : "";
}
