import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildWorker } from "../../scripts/build.mjs";
import { type WorkerdBindings, writeWorkerdConfig } from "../../test/support/workerd-config.ts";
import { noteReads } from "./modules-read.ts";

const ROOT = join(import.meta.dirname, "../..");
const ENTRY = "worker.js";

/** A Worker ready to be run: its modules and a workerd configuration, in a directory of their own. */
export interface Bundle extends Disposable {
  directory: string;
  config: string;
  /** Names of the module files, the entry first. */
  modules: string[];
}

export interface BundleOptions extends WorkerdBindings {
  /** Whether it reports which modules have run: {@link noteReads}. */
  noted?: boolean;
}

/**
 * Bundles the Worker that `entry` (a path from the root of the project) exports, as it is deployed: by the project's own build, or
 * by wrangler if a `wrangler.toml` that names it is beside it.
 */
export async function bundle(entry: string, options: BundleOptions = {}): Promise<Bundle> {
  const directory = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  const wrangler = join(ROOT, dirname(entry), "wrangler.toml");
  if (existsSync(wrangler)) buildWithWrangler(wrangler, directory);
  else await buildWorker(entry, directory);
  const parts = globSync("parts/*.{js,bin}", { cwd: directory });
  const built = [ENTRY, ...parts];
  const modules = options.noted ? noteReads(directory, built) : built;
  const config = writeWorkerdConfig(directory, modules, options);
  return {
    directory,
    config,
    modules,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function buildWithWrangler(config: string, directory: string): void {
  const wrangler = join(ROOT, "node_modules/.bin/wrangler");
  const args = ["deploy", "--dry-run", "--minify", "--config", config, "--outdir", directory];
  execFileSync(wrangler, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
  });
}
