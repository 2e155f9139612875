// Bundles the console (docs/design/console.md) into console/public: `index.html` and, named by their hashes, `assets/`.

import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { replaceFile, replaceFiles } from "./replace-files.mjs";

const root = resolve(import.meta.dirname, "../..");
const source = join(root, "console");
const MAIN = "console/main.tsx";

/** What is beside `assets` is checked in, but for the page. */
const PUBLIC = join(source, "public");

export async function buildConsole() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { main: MAIN },
    outdir: join(PUBLIC, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["chrome120", "firefox121", "safari17"],
    jsx: "automatic",
    minify: true,
    metafile: true,
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
    write: false,
  });
  const [script, output] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === MAIN) ?? [];
  if (script === undefined || output?.cssBundle === undefined) {
    throw new Error("the console has no script or no styles");
  }
  // What the script imports at once is asked for with it, not after it.
  const imports = [...importsOf(script, metafile)];
  const page = (await readFile(join(source, "index.html"), "utf8"))
    .replace("SCRIPT", basename(script))
    .replace("STYLES", basename(output.cssBundle))
    .replace(
      "PRELOADS",
      imports
        .map((path) => `<link rel="modulepreload" href="/assets/${basename(path)}" />`)
        .join("\n    "),
    );
  await replaceFiles(
    join(PUBLIC, "assets"),
    new Map(outputFiles.map(({ path, contents }) => [path, contents])),
  );
  await replaceFile(join(PUBLIC, "index.html"), Buffer.from(page));
}

/**
 * The chunks that a script imports, and those that they import, without what is loaded later.
 *
 * @param {string} script
 * @param {import("esbuild").Metafile} metafile
 * @param {Set<string>} found
 */
function importsOf(script, metafile, found = new Set()) {
  for (const { kind, path } of metafile.outputs[script]?.imports ?? []) {
    if (kind !== "import-statement" || found.has(path)) continue;
    found.add(path);
    importsOf(path, metafile, found);
  }
  return found;
}
