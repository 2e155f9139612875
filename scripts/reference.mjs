// `npm run reference` writes docs/reference from the comments of the public API; with --check it says whether that is what the
// repository has.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const tools = join(root, "scripts/reference");
const pages = join(root, "docs/reference");
const check = process.argv.includes("--check");
const out = check ? mkdtempSync(join(tmpdir(), "troupe-reference-")) : pages;

execFileSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], {
  cwd: tools,
  stdio: "inherit",
});
execFileSync(
  process.execPath,
  [
    join(tools, "node_modules/typedoc/bin/typedoc"),
    "--options",
    join(tools, "typedoc.json"),
    "--out",
    out,
  ],
  { cwd: tools, stdio: "inherit" },
);
if (check) {
  const stale = [...new Set([...filesOf(out), ...filesOf(pages)])].filter(
    (name) => textOf(join(out, name)) !== textOf(join(pages, name)),
  );
  rmSync(out, { recursive: true, force: true });
  if (stale.length > 0) {
    console.error(
      `docs/reference is not that of these sources (${stale.join(", ")}): npm run reference`,
    );
    process.exitCode = 1;
  }
}

/** @param {string} directory */
function filesOf(directory) {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
}

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
