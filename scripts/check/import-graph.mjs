// Which files import which, from their text: what a file and a folder know of others. Run as a program, it prints the folders of
// src that import each other.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

/** @type {{ imports: Record<string, string> }} */
const { imports: ALIASES } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The code of a folder, as paths from the root. @param {string} folder */
export function codeIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes("node_modules"))
    .map((file) => join(folder, file));
}

/**
 * All imports of the folders' files, types included: both ends are paths from the root, and a package's name stays as it is.
 *
 * @param {string[]} folders
 * @returns {{ from: string, to: string }[]}
 */
export function importsOf(folders) {
  return folders.flatMap(codeIn).flatMap((from) =>
    [...readFileSync(join(root, from), "utf8").matchAll(SPECIFIER)].map(([, specifier = ""]) => ({
      from,
      to: pathOf(specifier, from),
    })),
  );
}

/** @param {string} specifier @param {string} file */
function pathOf(specifier, file) {
  if (specifier.startsWith(".")) return join(dirname(file), specifier);
  const [alias, target = ""] =
    Object.entries(ALIASES).find(([name]) => specifier.startsWith(name.replace(/\*$/, ""))) ?? [];
  if (alias === undefined) return specifier;
  return join(".", target.replace("*", specifier.slice(alias.length - 1)));
}

/**
 * Folders beside each other that know each other, with what is below them: `core: agents <-> teams`, and the imports of the
 * direction that has fewer.
 *
 * @param {{ from: string, to: string }[]} imports
 * @returns {string[]}
 */
export function mutualFolders(imports) {
  /** @type {Map<string, Set<string>>} */
  const edges = new Map();
  for (const { from, to } of imports) {
    const [a, b] = [from.split("/").slice(0, -1), to.split("/").slice(0, -1)];
    const shared = a.findIndex((name, n) => name !== b[n]);
    const [left, right] = shared === -1 ? [] : [a[shared], b[shared]];
    if (left === undefined || right === undefined) continue;
    const key = JSON.stringify([a.slice(0, shared).join("/"), left, right]);
    edges.set(key, (edges.get(key) ?? new Set()).add(`${from} imports ${to}`));
  }
  return [...edges].flatMap(([key, forth]) => {
    const [parent, left, right] = JSON.parse(key);
    const back = edges.get(JSON.stringify([parent, right, left]));
    if (back === undefined || left > right) return [];
    const fewer = forth.size <= back.size ? forth : back;
    return [`${parent}: ${left} <-> ${right} (${[...fewer].join(", ")})`];
  });
}

/**
 * Folders and their own subfolders, direct or deeper, that import each other: a subfolder is a room, which its parent uses and
 * which knows nothing of the parent. Each pair is shown with the imports of the subfolder.
 *
 * @param {{ from: string, to: string }[]} imports
 * @returns {{ parent: string, room: string, imports: string[] }[]}
 */
export function mutualRooms(imports) {
  /** @type {Set<string>} */
  const down = new Set();
  /** @type {Map<string, { parent: string, room: string, imports: string[] }>} */
  const up = new Map();
  for (const { from, to } of imports) {
    const [a, b] = [dirname(from), dirname(to)];
    if (b.startsWith(`${a}/`)) down.add(`${a} ${b}`);
    if (!a.startsWith(`${b}/`)) continue;
    const key = `${b} ${a}`;
    const pair = up.get(key) ?? { parent: b, room: a, imports: [] };
    pair.imports.push(`${from} imports ${to}`);
    up.set(key, pair);
  }
  return [...up].filter(([key]) => down.has(key)).map(([, pair]) => pair);
}

if (process.argv[1] === import.meta.filename) {
  const imports = importsOf(["src"]);
  const rooms = mutualRooms(imports);
  for (const line of mutualFolders(imports)) console.log(line);
  for (const { parent, room, imports: up } of rooms) {
    console.log(`${room} <-> ${parent}`);
    for (const line of up) console.log(`  ${line}`);
  }
  console.log(`${rooms.length} subfolders import their parent, which imports them`);
}
