// `wrangler` runs this before it deploys or serves: bundles the Worker into dist/.
//
// Wrangler's own bundler makes one file, and every start of an isolate would read 3.4 MB of tokenizer tables, though
// hardly any counts a token. Here what is imported dynamically stays in modules of its own, and the tables are data,
// which the runtime does not compile.

import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");

/**
 * @param {string} entry path from the root of the project
 * @param {string} directory where `worker.js` and the directory `parts` go
 */
export async function buildWorker(entry, directory) {
  await build({
    absWorkingDir: root,
    entryPoints: { worker: entry },
    outdir: directory,
    bundle: true,
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    format: "esm",
    target: "es2024",
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", "./*.bin"],
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [tablesAsData(join(directory, "parts"))],
    logLevel: "warning",
  });
}

/**
 * Writes the tokenizer's tables, each the only export of its module, as JSON beside the module that parses it.
 *
 * @param {string} directory
 * @returns {import("esbuild").Plugin}
 */
function tablesAsData(directory) {
  return {
    name: "tables-as-data",
    setup(bundler) {
      bundler.onLoad(
        { filter: /[\\/]js-tiktoken[\\/]dist[\\/]ranks[\\/]\w+\.js$/ },
        async ({ path }) => {
          const { default: table } = await import(pathToFileURL(path).href);
          const name = `${basename(path, ".js")}.bin`;
          await mkdir(directory, { recursive: true });
          await writeFile(join(directory, name), JSON.stringify(table));
          return {
            contents: `import bytes from "./${name}"; export default JSON.parse(new TextDecoder().decode(bytes));`,
          };
        },
      );
    },
  };
}

if (import.meta.main) {
  const directory = join(root, "dist");
  await rm(directory, { recursive: true, force: true });
  await buildWorker("src/worker.ts", directory);
}
