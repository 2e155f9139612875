// `npm run budget` sets the lines of docs/contributing/budget.md to what the features have now, with a margin. The features and
// their folders are written by hand in its table; `test/lint/budget.test.ts` refuses a feature that has outgrown its line.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = "docs/contributing/budget.md";

/** The files that count, with their comments and blank lines; tests do not. */
const COUNTED = "{src,console,sandbox,scripts}/**/*.{css,mjs,py,ts,tsx}";

const ROW = /^\| (.+?) \| (.+?) \| ([\d,]+) \|$/gm;

/** @typedef {{ feature: string, folders: string[], limit: number, lines: number }} Feature */

/** The smallest limit with room for small edits: 2 % and ten lines, in steps of 50. @param {number} lines */
const limitFor = (lines) => Math.ceil((lines * 1.02 + 10) / 50) * 50;

/**
 * The features of the page with the lines that they have, and the files that belong to none. A file counts for the row with the
 * deepest folder above it.
 *
 * @returns {{ features: Feature[], strays: string[] }}
 */
export function readBudget(root = ROOT) {
  const page = readFileSync(join(root, PAGE), "utf8");
  const features = [...page.matchAll(ROW)].map(([, feature = "", folders = "", limit = ""]) => ({
    feature,
    folders: [...folders.matchAll(/`([^`]+)`/g)].map(([, folder = ""]) => folder),
    limit: Number(limit.replaceAll(",", "")),
    lines: 0,
  }));
  const owners = features
    .flatMap((feature) => feature.folders.map((folder) => ({ folder, feature })))
    .toSorted((a, b) => b.folder.length - a.folder.length);
  const strays = [];
  for (const file of globSync(COUNTED, { cwd: root, exclude: ["**/node_modules", "*/test/**"] })) {
    const path = file.replaceAll("\\", "/");
    const owner = owners.find(({ folder }) => path.startsWith(`${folder}/`) || path === folder);
    if (owner === undefined) strays.push(path);
    else owner.feature.lines += readFileSync(join(root, file), "utf8").split("\n").length - 1;
  }
  return { features, strays };
}

/** What is wrong with the line of a feature, with the line to write; undefined while it fits. @param {Feature} feature */
export function budgetFault({ feature, limit, lines }) {
  const line = `set its line in ${PAGE} to ${written(limitFor(lines))}`;
  if (lines > limit) {
    const excess = `"${feature}" has ${written(lines)} lines, ${written(lines - limit)} more than its budget`;
    return `${excess}: make it smaller, or ${line} and say why in the commit`;
  }
  if (lines > 0 && limit - limitFor(lines) <= Math.max(100, limit * 0.05)) return undefined;
  return `"${feature}" has only ${written(lines)} of ${written(limit)} lines: ${line}`;
}

const written = (/** @type {number} */ lines) => lines.toLocaleString("en");

function renew() {
  const { features } = readBudget();
  const lines = new Map(features.map((feature) => [feature.feature, feature.lines]));
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  const renewed = page.replace(
    ROW,
    (_, feature, folders) =>
      `| ${feature} | ${folders} | ${written(limitFor(lines.get(feature) ?? 0))} |`,
  );
  writeFileSync(join(ROOT, PAGE), renewed);
}

if (process.argv[1] === import.meta.filename) renew();
