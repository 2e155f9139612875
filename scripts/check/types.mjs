// Checks the types of the projects that are named. Projects have files in common, so that several compilations find an error in one of
// those: each message is printed once.

import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const MOST_OUTPUT = 2 ** 28;

/**
 * The messages of a compiler, each with the lines that explain it, without those that were there before.
 *
 * @param {string} output without colours
 * @returns {string[]}
 */
export function distinctMessages(output) {
  const messages = output.split(/\n(?=\S)/).map((message) => message.trimEnd());
  return [...new Set(messages)].filter((message) => message !== "");
}

if (process.argv[1] === import.meta.filename) {
  const options = ["--pretty", "false", "--incremental", "--checkers", "1", "--builders", "1"];
  const { status, stdout, error } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    ["-b", ...process.argv.slice(2), ...options],
    { cwd: root, encoding: "utf8", maxBuffer: MOST_OUTPUT, stdio: ["ignore", "pipe", "inherit"] },
  );
  if (error) throw error;
  for (const message of distinctMessages(stdout)) console.error(message);
  process.exitCode = status ?? 1;
}
