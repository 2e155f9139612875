import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build, type BuildOptions } from "esbuild";

const root = resolve(import.meta.dirname, "../..");

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
}

/** As the Worker is deployed: minified, parts that are loaded when needed in files of their own. */
const DEPLOYED: BuildOptions = {
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2024",
  minify: true,
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "error",
};

/** Bundles the Worker that `entry` (a path from the root of the project) exports. */
export async function bundle(entry: string, options: BundleOptions = {}): Promise<Bundle> {
  const directory = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  await build({
    ...DEPLOYED,
    absWorkingDir: root,
    entryPoints: { entry },
    outdir: directory,
  });
  const parts = readdirSync(directory).filter((name) => name.endsWith(".js"));
  const modules = ["entry.js", ...parts.filter((name) => name !== "entry.js")];
  const config = join(directory, "config.capnp");
  writeFileSync(config, configuration(modules, options));
  return {
    directory,
    config,
    modules,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
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
  modules = [${modules.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(", ")}],
  compatibilityDate = "2026-09-18",
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "state")
);
`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
