import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const ENTRY = resolve(import.meta.dirname, "../worker/main.ts");
/** As in wrangler.toml. */
const COMPATIBILITY_DATE = "2026-09-18";

/**
 * Bundles a Worker into `directory` and writes a workerd configuration for it. Returns the configuration's path.
 *
 * @param entry default: the chaos worker
 */
export async function bundleWorker(
  directory: string,
  vars: readonly string[],
  entry: string = ENTRY,
): Promise<string> {
  await build({
    entryPoints: [entry],
    outfile: join(directory, "worker.js"),
    bundle: true,
    minify: true,
    keepNames: true,
    format: "esm",
    target: "es2023",
    conditions: ["workerd", "worker", "browser"],
    // No scenario counts tokens, and megabytes of tables would slow each of the many starts down.
    external: ["cloudflare:*", "node:*", "js-tiktoken/*", "#ranks/*"],
    logLevel: "error",
  });
  const file = join(directory, "config.capnp");
  writeFileSync(file, config([...vars, "CHAOS"]));
  return file;
}

function config(vars: readonly string[]): string {
  const bindings = vars.map((name) => `(name = "${name}", fromEnvironment = "${name}")`);
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
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  bindings = [
    (name = "TEAM", durableObjectNamespace = "TeamObject"),
    (name = "TENANT", durableObjectNamespace = "TenantObject"),
    ${bindings.join(",\n    ")}
  ],
  durableObjectNamespaces = [
    (className = "TeamObject", uniqueKey = "troupe", enableSql = true),
    (className = "TenantObject", uniqueKey = "tenant", enableSql = true)
  ],
  durableObjectStorage = (localDisk = "state")
);
`;
}
