// `npm run outdated` compares what `npm outdated` lists with the table of docs/contributing/dependencies.md: each package that stays
// behind has its reason there, and the table names no other. A release has two weeks until it must be taken or explained.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const page = "docs/contributing/dependencies.md";
const DAYS = 14;

/** The package of the workspaces that is the root itself has no latest version. @typedef {{ current: string, latest?: string }} Versions */

/** @param {number} days @returns {Record<string, Versions> | undefined} undefined when the registry does not answer */
function outdated(days) {
  const before = new Date(Date.now() - days * 86_400_000).toISOString();
  const options = ["--json", `--before=${before}`, "--fetch-retries=1", "--fetch-timeout=20000"];
  const { stdout } = spawnSync("npm", ["outdated", ...options], { cwd: root, encoding: "utf8" });
  const answer = JSON.parse(stdout || "{}");
  if ("error" in answer) return undefined;
  return Object.fromEntries(
    Object.entries(answer).flatMap(([name, found]) =>
      [found]
        .flat()
        .filter(({ current, latest }) => latest !== undefined && isOlder(current, latest))
        .map((versions) => [name.split(":")[0], versions]),
    ),
  );
}

/** @param {string} version @param {string} other */
function isOlder(version, other) {
  const [one = [], two = []] = [version, other].map((text) => text.split(/[.-]/).map(Number));
  const place = one.findIndex((part, index) => part !== two[index]);
  return place >= 0 && (one[place] ?? 0) < (two[place] ?? 0);
}

/** @returns {Set<string>} the packages of the table, which are the first code of a row */
function explained() {
  const [table = ""] =
    /^\| package \|[^]*?\n\n/m.exec(readFileSync(join(root, page), "utf8")) ?? [];
  const rows = table.matchAll(/^\| (`[^|]*`) \|/gm);
  return new Set([...rows].flatMap(([, cell = ""]) => cell.match(/[^`, ]+/g) ?? []));
}

const [settled, today] = [outdated(DAYS), outdated(0)];
if (settled === undefined || today === undefined) {
  console.log("The registry does not answer; nothing was compared.");
} else {
  const reasons = explained();
  const missing = Object.entries(settled).filter(([name]) => !reasons.has(name));
  const unneeded = [...reasons].filter((name) => !(name in today));
  for (const [name, { current, latest }] of missing)
    console.error(
      `${name} ${current} is behind ${latest}: update it, or give the reason in ${page}.`,
    );
  for (const name of unneeded) console.error(`${name} is not behind: remove it from ${page}.`);
  process.exitCode = missing.length + unneeded.length > 0 ? 1 : 0;
}
