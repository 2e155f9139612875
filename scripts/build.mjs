// `wrangler` runs this before it deploys or serves: bundles the Worker into dist/.
//
// Wrangler's own bundler makes one file, and workerd would read 3.4 MB of tokenizer tables on every start of an isolate
// that hardly ever counts a token. This one keeps what is imported dynamically in modules of its own.

import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "..");

/**
 * @param {string} entry path from the root of the project; its module is called like it
 * @param {string} directory where the modules go
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
    external: ["cloudflare:*", "node:*"],
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
  });
}

if (import.meta.main) {
  const directory = join(root, "dist");
  rmSync(directory, { recursive: true, force: true });
  await buildWorker("src/worker.ts", directory);
}
