import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BuildOptions, builtWorker, compatibility } from "./built-worker.ts";

/** The runtime, in the version that the project is tested with. */
export const WORKERD = resolve(import.meta.dirname, "../../node_modules/.bin/workerd");

export interface WorkerdBindings {
  /** Durable Object classes by the name of their binding. Each class has a directory of its name in that of the state. */
  objects?: { readonly [binding: string]: string };
  /** Values of text bindings. */
  vars?: { readonly [name: string]: string };
  /** Names of text bindings whose values are in the environment of the process. */
  environment?: readonly string[];
  /** Whether it has the binding VECTORIZE, whose requests go to the origin that the variable VECTORIZE_ORIGIN of the process names. */
  vectorize?: boolean;
  /** Whether it has the binding LOADER. Default false. */
  loader?: boolean;
  /** Whether each line of output is JSON with the field `message`. Default false: the text itself. */
  structuredLogs?: boolean;
  /** Flags of V8. */
  v8Flags?: readonly string[];
}

/**
 * Writes a configuration for workerd, unless the directory has the same one. It is compiled, because reading the source takes the
 * longer the bigger the modules are.
 *
 * @param modules names of the module files in `directory`, the entry first
 * @returns the path of the configuration, in the same directory
 */
export function writeWorkerdConfig(
  directory: string,
  modules: readonly string[],
  bindings: WorkerdBindings,
): string {
  const text = configuration(modules, bindings);
  const config = join(directory, `config-${createHash("sha256").update(text).digest("hex")}.bin`);
  if (existsSync(config)) return config;
  // Other processes may be writing it, too.
  const source = `${config}.${process.pid}.capnp`;
  const unfinished = `${config}.${process.pid}.part`;
  writeFileSync(source, text);
  const output = openSync(unfinished, "w");
  execFileSync(WORKERD, ["compile", "--config-only", source], {
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
  rmSync(source);
  renameSync(unfinished, config);
  return config;
}

export interface DeployedOptions
  extends
    BuildOptions,
    Pick<WorkerdBindings, "vectorize" | "loader" | "structuredLogs" | "v8Flags"> {
  /** Whether it has the binding `MEMORY`. Default true. */
  memories?: boolean;
  /** Whether it has the binding `CONTAINERS`, to the class `StandInSandbox` of its entry. Default false. */
  containers?: boolean;
}

/**
 * A configuration for the deployed Worker, or for one that wraps it. All processes of a run of tests share it.
 *
 * @param environment names of the bindings whose values are in the environment of the process
 */
export async function configOfWorker(
  environment: readonly string[],
  {
    vectorize = false,
    loader = false,
    structuredLogs = false,
    v8Flags = [],
    memories = true,
    containers = false,
    ...options
  }: DeployedOptions = {},
): Promise<string> {
  const { directory, modules } = await builtWorker(options);
  const objects = {
    TEAM: "TeamObject",
    TENANT: "TenantObject",
    ...(memories && { MEMORY: "MemoryObject" }),
    ...(containers && { CONTAINERS: "StandInSandbox" }),
  };
  const bindings = { objects, environment, vectorize, loader, structuredLogs, v8Flags };
  return writeWorkerdConfig(directory, modules, bindings);
}

function configuration(
  modules: readonly string[],
  {
    objects = {},
    vars = {},
    environment = [],
    vectorize = false,
    loader = false,
    structuredLogs = false,
    v8Flags = [],
  }: WorkerdBindings,
): string {
  const { date, flags } = compatibility();
  const classes = Object.entries(objects);
  const bindings = [
    ...classes.map(([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}")`),
    ...Object.entries(vars).map(
      ([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`,
    ),
    ...environment.map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
    ...(vectorize ? ['(name = "VECTORIZE", service = "vectorize")'] : []),
    ...(loader ? ['(name = "LOADER", workerLoader = ())'] : []),
  ];
  const namespaces = classes.map(
    ([, type]) => `(className = "${type}", uniqueKey = "${type}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),${vectorize ? ' (name = "vectorize", worker = .vectorize),' : ""}
    (name = "state", disk = (path = "state", writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
  logging = (structuredLogging = ${structuredLogs}),
  v8Flags = ${JSON.stringify(v8Flags)}
);

const main :Workerd.Worker = (
  modules = [${modules.map(moduleOf).join(", ")}],
  compatibilityDate = "${date}",
  compatibilityFlags = ${JSON.stringify(flags)},
  bindings = [${bindings.join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "state")
);
${
  vectorize
    ? `
const vectorize :Workerd.Worker = (
  modules = [(name = "vectorize.js", esModule = ${JSON.stringify(VECTORIZE)})],
  compatibilityDate = "${date}",
  bindings = [(name = "ORIGIN", fromEnvironment = "VECTORIZE_ORIGIN")]
);
`
    : ""
}`;
}

/** A Worker with the methods of the binding, which passes them on. */
const VECTORIZE = `import { WorkerEntrypoint } from "cloudflare:workers";

export default class extends WorkerEntrypoint {
  async #call(method, ...given) {
    const url = this.env.ORIGIN + "/" + method;
    const response = await fetch(url, { method: "POST", body: JSON.stringify(given) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  }
  describe() { return this.#call("describe"); }
  query(...given) { return this.#call("query", ...given); }
  getByIds(...given) { return this.#call("getByIds", ...given); }
  upsert(...given) { return this.#call("upsert", ...given); }
  deleteByIds(...given) { return this.#call("deleteByIds", ...given); }
}
`;

function moduleOf(name: string): string {
  const type = name.endsWith(".bin") ? "data" : "esModule";
  return `(name = "${name}", ${type} = embed "${name}")`;
}
