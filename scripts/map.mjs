// `npm run map` renews the table of docs/contributing/map.md from the folders of src. What a folder is for is written by hand in
// the table and kept; a new folder gets a row without it, which `test/lint/map.test.ts` refuses.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { LAYERS } from "./lint/layers.mjs";

const root = resolve(import.meta.dirname, "..");
const page = join(root, "docs/contributing/map.md");
const TABLE = /(<!-- folders -->\n)[^]*?(<!-- \/folders -->)/;
const ROW = /^\| \[`([^`]+)`\]\([^)]*\) \| (.*?) \|/gm;

/** The map as its page has it, and as it follows from the folders. */
export function readMap() {
  const current = readFileSync(page, "utf8");
  const purposes = new Map(
    [...current.matchAll(ROW)].map(([, name = "", text = ""]) => [name, text]),
  );
  const rows = folders("src").map((folder) => {
    const name = `${folder.slice("src/".length)}/`;
    return `| [\`${name}\`](../../${folder}) | ${purposes.get(name) ?? ""} | ${mayImport(name)} |`;
  });
  const table = ["| folder | purpose | may import |", "|---|---|---|", ...rows].join("\n");
  return { current, wanted: current.replace(TABLE, (_, begin, end) => `${begin}${table}\n${end}`) };
}

/**
 * Folders with files of their own, in the order of their names.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function folders(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const hasFiles = folder !== "src" && entries.some((entry) => entry.isFile());
  const inner = entries
    .filter((entry) => entry.isDirectory())
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => folders(`${folder}/${name}`));
  return hasFiles ? [folder, ...inner] : inner;
}

/**
 * What the layer rules allow, shown at the top folder of each layer.
 *
 * @param {string} name
 */
function mayImport(name) {
  const allowed = LAYERS[name];
  if (allowed === undefined) return "";
  if (allowed === "anything") return "everything";
  return allowed.src.map((path) => path.replace(/\/$/, "")).join(", ") || "nothing of src";
}

if (process.argv[1] === import.meta.filename) writeFileSync(page, readMap().wanted);
