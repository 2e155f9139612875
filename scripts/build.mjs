// `wrangler` runs this before it deploys or serves: bundles the Worker into dist/, and the console into console/public/.
//
// Wrangler's own bundler makes one file, and every start of an isolate would read 3.4 MB of tokenizer tables, though
// hardly any counts a token. Here what is imported dynamically stays in modules of its own, and the tables are data,
// which the runtime does not compile. It does compile all modules at each start, even modules without importers, so code that
// Troupe never calls is left out of the bundle (docs/design/cold-start.md).

import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { buildConsole } from "./build/console.mjs";
import { buildRunView } from "./build/run-view.mjs";
import { replaceFiles } from "./build/replace-files.mjs";
import { tokenTable } from "./package/token-tables.mjs";

const root = resolve(import.meta.dirname, "..");

/**
 * @param {string} entry path from the root of the project
 * @param {string} directory where `worker.js` and the directory `parts` go
 * @param {import("esbuild").BuildOptions} [changes] of the options of the deployed bundle, for measurements
 * @returns what is in the bundle
 */
export async function buildWorker(entry, directory, changes = {}) {
  /** @type {Map<string, Uint8Array>} */
  const files = new Map();
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { worker: entry },
    outdir: directory,
    bundle: true,
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    format: "esm",
    target: "es2024",
    minify: true,
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", "./*.bin"],
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
    ...changes,
    plugins: [
      ...(changes.plugins ?? []),
      withoutUnused,
      tablesAsData((name, data) => files.set(join(directory, "parts", name), Buffer.from(data))),
    ],
    metafile: true,
    write: false,
  });
  requireNamedExports(metafile);
  for (const { path, contents } of outputFiles) files.set(path, contents);
  await replaceFiles(directory, files);
  return metafile;
}

/**
 * With `splitting`, esbuild makes `import()` of a CommonJS module give its default export only. A module of one's own between
 * the two, which exports names, has them.
 *
 * @param {import("esbuild").Metafile} metafile
 * @throws Error naming such an import
 */
function requireNamedExports({ inputs }) {
  for (const [importer, { imports }] of Object.entries(inputs)) {
    for (const { path, kind } of imports) {
      if (kind !== "dynamic-import" || inputs[path]?.format !== "cjs") continue;
      throw new Error(
        `${importer} imports ${path} dynamically. It is CommonJS, and the bundle would have none of its names: import it statically in a module that is imported dynamically.`,
      );
    }
  }
}

/**
 * Leaves out a package that Troupe never calls, and no bundler can know: jose where the MCP client signs requests with private
 * keys.
 *
 * @type {import("esbuild").Plugin}
 */
const withoutUnused = {
  name: "without-unused",
  setup(bundler) {
    const mcpClient = /[\\/]node_modules[\\/]@modelcontextprotocol[\\/]client[\\/]/;
    bundler.onResolve({ filter: /^jose$/ }, ({ importer }) =>
      mcpClient.test(importer) ? { path: "unused", namespace: "unused" } : undefined,
    );
    bundler.onLoad({ filter: /^/, namespace: "unused" }, () => ({ contents: "" }));
  },
};

/**
 * Writes the tokenizer's tables as data beside the modules that parse them.
 *
 * @param {(name: string, data: string) => void} write
 * @returns {import("esbuild").Plugin}
 */
function tablesAsData(write) {
  return {
    name: "tables-as-data",
    setup(bundler) {
      bundler.onLoad(
        { filter: /[\\/]js-tiktoken[\\/]dist[\\/]ranks[\\/]\w+\.js$/ },
        async ({ path }) => {
          const { file, data, module } = await tokenTable(basename(path, ".js"), path);
          write(file, data);
          return { contents: module };
        },
      );
    },
  };
}

if (import.meta.main) {
  await Promise.all([
    buildWorker("src/service/worker.ts", join(root, "dist")),
    buildConsole(),
    buildRunView(),
  ]);
}
