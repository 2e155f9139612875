// `npm run python`: formats src/core/python/program/*.py and writes them as one program into program.ts beside them.
//
// The program is imported as text on Node without a bundler, by esbuild, by wrangler and by vitest. A TypeScript module is what
// all of them load; `with { type: "text" }` needs a flag on Node 26. test/core/python/program/program.test.ts fails when
// program.ts does not match the Python, or when the Python is not formatted or has errors.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { PositionEncoding, Workspace } from "@astral-sh/ruff-wasm-nodejs";

export const directory = resolve(import.meta.dirname, "../src/core/python/program");
export const target = join(directory, "program.ts");

const settings = {
  // The oldest Python of a sandbox.
  "target-version": "py39",
  "line-length": 100,
  lint: { select: ["E4", "E7", "E9", "F", "I", "B", "W"] },
};
const ruff = new Workspace(settings, PositionEncoding.Utf16);
/** Tabs and long lines: the program goes along with each call. */
const compact = new Workspace(
  {
    ...settings,
    "line-length": 320,
    format: { "indent-style": "tab", "skip-magic-trailing-comma": true },
  },
  PositionEncoding.Utf16,
);

/** @returns {{ name: string, source: string }[]} the modules of the program */
export function modules() {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".py"))
    .map((file) => ({ name: file, source: readFileSync(join(directory, file), "utf8") }));
}

/** @param {string} source */
export function format(source) {
  return ruff.format(source);
}

/**
 * @param {{ name: string, source: string }} module
 * @returns {string[]} errors with their places
 */
export function errorsIn({ name, source }) {
  /** @type {import("@astral-sh/ruff-wasm-nodejs").Diagnostic[]} */
  const diagnostics = ruff.check(source);
  return diagnostics.map(
    ({ code, message, start_location: { row, column } }) =>
      `${name}:${row}:${column} ${code ?? ""} ${message}`,
  );
}

const RELATIVE_IMPORT = /^from \.(\w+) import (?:\([^)]*\)|.*)\n/gm;

/**
 * The TypeScript module of the program: all that main.py imports, in one text, so that one block of code holds it.
 *
 * @param {{ name: string, source: string }[]} parts
 */
export function programModule(parts) {
  const sources = new Map(parts.map(({ name, source }) => [name.replace(/\.py$/, ""), source]));
  /** @type {string[]} */
  const texts = [];
  const done = new Set();
  /** @param {string} name */
  const add = (name) => {
    if (done.has(name)) return;
    done.add(name);
    const source = sources.get(name);
    if (source === undefined) throw new Error(`there is no ${name}.py`);
    for (const [, imported = ""] of source.matchAll(RELATIVE_IMPORT)) add(imported);
    texts.push(source.replace(RELATIVE_IMPORT, ""));
  };
  add("main");
  const program = compact.format(texts.join("\n\n")).replace(/\n\n+/g, "\n");
  requireOneNamespace(program);
  const unused = [...sources.keys()].filter((name) => !done.has(name));
  if (unused.length > 0) throw new Error(`main.py does not import ${unused.join(", ")}`);
  return `// Generated from the .py files of this folder by \`npm run python\`.\nexport const PROGRAM = ${JSON.stringify(program)};\n`;
}

/**
 * The modules become one: names must differ, and be used as they are.
 *
 * @param {string} program
 */
function requireOneNamespace(program) {
  const names = Array.from(program.matchAll(/^(?:def|class) (\w+)|^(\w+) = /gm), (match) =>
    String(match[1] ?? match[2]),
  );
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`two modules define ${twice.join(", ")}`);
  if (/^\s*(?:from|import) \./m.test(program)) {
    throw new Error("modules import each other as `from .module import name` at their top");
  }
}

if (import.meta.main) {
  const formatted = modules().map(({ name, source }) => ({ name, source: format(source) }));
  for (const { name, source } of formatted) writeFileSync(join(directory, name), source);
  writeFileSync(target, programModule(formatted));
  const errors = formatted.flatMap(errorsIn);
  for (const error of errors) console.error(error);
  process.exitCode = errors.length > 0 ? 1 : 0;
}
