import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { WORKERD } from "./binary.ts";
import { buildWorker } from "../../scripts/build.mjs";
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

export interface BundleOptions {
  /** Durable Object classes by the name of their binding. */
  objects?: { readonly [binding: string]: string };
  /** Values of text bindings. */
  vars?: { readonly [name: string]: string };
  /** Whether the bundle has all of OpenAI's SDK, which Troupe's own leaves out in part. */
  wholeSdks?: boolean;
  /** Whether it tells which modules have run: {@link noteReads}. */
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
  else await buildWorker(entry, directory, { wholeSdks: options.wholeSdks ?? false });
  const parts = globSync("parts/*.{js,bin}", { cwd: directory });
  const built = [ENTRY, ...parts];
  const modules = options.noted ? noteReads(directory, built) : built;
  const source = join(directory, "config.capnp");
  writeFileSync(source, configuration(modules, options));
  // Compiled, because reading the source takes the longer the bigger the modules are, which only happens here.
  const config = join(directory, "config.bin");
  const output = openSync(config, "w");
  execFileSync(WORKERD, ["compile", "--config-only", source], {
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
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

function configuration(
  modules: readonly string[],
  { objects = {}, vars = {} }: BundleOptions,
): string {
  const classes = Object.entries(objects);
  const bindings = [
    ...classes.map(([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}")`),
    ...Object.entries(vars).map(([name, text]) => `(name = "${name}", text = ${quoted(text)})`),
  ];
  const namespaces = classes.map(
    ([, type]) => `(className = "${type}", uniqueKey = "${type}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "state", disk = (path = "state", writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);

const main :Workerd.Worker = (
  modules = [${modules.map(moduleOf).join(", ")}],
  compatibilityDate = "2026-09-18",
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "state")
);
`;
}

function moduleOf(name: string): string {
  const type = name.endsWith(".bin") ? "data" : "esModule";
  return `(name = "${name}", ${type} = embed "${name}")`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
