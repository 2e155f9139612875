// Bundles the console (docs/design/console.md) into console/public: `index.html` and, named by their hashes, `assets/`.

import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { rolldown } from "rolldown";
import { replaceFile, replaceFiles } from "./replace-files.mjs";

const root = resolve(import.meta.dirname, "../..");
const source = join(root, "console");

/** What is beside `assets` is checked in, but for the page. */
const PUBLIC = join(source, "public");
const ASSETS = join(PUBLIC, "assets");

export async function buildConsole() {
  const [scripts, styles] = await Promise.all([bundleScripts(), bundleStyles()]);
  const [main] = scripts;
  if (main === undefined || main.imports.length > 0) {
    throw new Error("the first script must not import another one: the page would wait twice");
  }
  const page = (await readFile(join(source, "index.html"), "utf8"))
    .replace("SCRIPT", main.fileName)
    .replace("STYLES", basename(styles.path));
  const files = new Map([[styles.path, styles.contents]]);
  for (const { fileName, code } of scripts) files.set(join(ASSETS, fileName), Buffer.from(code));
  await replaceFiles(ASSETS, files);
  await replaceFile(join(PUBLIC, "index.html"), Buffer.from(page));
}

/** The scripts: first the one of the page, with all that it imports at once, then those that are loaded later. */
async function bundleScripts() {
  const bundle = await rolldown({
    input: { main: join(source, "main.tsx") },
    cwd: root,
    platform: "browser",
    transform: {
      target: ["chrome120", "firefox121", "safari17"],
      jsx: { runtime: "automatic" },
      define: { "process.env.NODE_ENV": '"production"' },
    },
    onLog(level, log, handler) {
      // "use client" means something on servers only.
      if (log.code !== "MODULE_LEVEL_DIRECTIVE") handler(level, log);
    },
  });
  const { output } = await bundle.generate({
    minify: true,
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: ({ name }) => `${name.startsWith("shared") ? "shared" : name}-[hash].js`,
    codeSplitting: {
      groups: [
        // A browser asks for six files at once: dozens of small ones would take longer than their bytes.
        { name: "main", tags: ["$initial"], priority: 1 },
        {
          name: "shared",
          minShareCount: 2,
          entriesAware: true,
          entriesAwareMergeThreshold: 10_000,
        },
      ],
    },
  });
  return output
    .filter((file) => file.type === "chunk")
    .toSorted((a, b) => Number(b.isEntry) - Number(a.isEntry));
}

async function bundleStyles() {
  const { outputFiles } = await build({
    entryPoints: { main: join(source, "styles/index.css") },
    outdir: ASSETS,
    entryNames: "[name]-[hash]",
    bundle: true,
    target: ["chrome120", "firefox121", "safari17"],
    minify: true,
    logLevel: "warning",
    write: false,
  });
  const [styles] = outputFiles;
  if (styles === undefined) throw new Error("the console has no styles");
  return styles;
}
