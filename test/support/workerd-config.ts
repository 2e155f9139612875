import { execFileSync } from "node:child_process";
import { closeSync, cpSync, openSync, writeFileSync } from "node:fs";
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
  /** The origin of what acts as an index of Vectorize for the binding VECTORIZE. Without it there is no such binding. */
  vectorize?: string | undefined;
}

/** The objects of the deployed Worker. */
const OBJECTS = { TEAM: "TeamObject", TENANT: "TenantObject", MEMORY: "MemoryObject" };

/**
 * Writes a configuration for workerd. It is compiled, because reading the source takes the longer the bigger the modules are.
 *
 * @param modules names of the module files in `directory`, the entry first
 * @returns the path of the configuration, in the same directory
 */
export function writeWorkerdConfig(
  directory: string,
  modules: readonly string[],
  bindings: WorkerdBindings,
): string {
  if (bindings.vectorize !== undefined) {
    writeFileSync(join(directory, VECTORIZE), vectorizeModule(bindings.vectorize));
  }
  const source = join(directory, "config.capnp");
  writeFileSync(source, configuration(modules, bindings));
  const config = join(directory, "config.bin");
  const output = openSync(config, "w");
  execFileSync(WORKERD, ["compile", "--config-only", source], {
    stdio: ["ignore", output, "inherit"],
  });
  closeSync(output);
  return config;
}

/**
 * A configuration for the deployed Worker, or for one that wraps it.
 *
 * @param directory gets its modules, too
 * @param environment names of the bindings whose values are in the environment of the process
 */
export async function configOfWorker(
  directory: string,
  environment: readonly string[],
  { vectorize, ...options }: BuildOptions & Pick<WorkerdBindings, "vectorize"> = {},
): Promise<string> {
  const built = await builtWorker(options);
  cpSync(built.directory, directory, { recursive: true });
  return writeWorkerdConfig(directory, built.modules, { objects: OBJECTS, environment, vectorize });
}

function configuration(
  modules: readonly string[],
  { objects = {}, vars = {}, environment = [], vectorize }: WorkerdBindings,
): string {
  const { date, flags } = compatibility();
  const classes = Object.entries(objects);
  const bindings = [
    ...classes.map(([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}")`),
    ...Object.entries(vars).map(
      ([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`,
    ),
    ...environment.map((name) => `(name = "${name}", fromEnvironment = "${name}")`),
    ...(vectorize === undefined ? [] : ['(name = "VECTORIZE", service = "vectorize")']),
  ];
  const namespaces = classes.map(
    ([, type]) => `(className = "${type}", uniqueKey = "${type}", enableSql = true)`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),${vectorize === undefined ? "" : ' (name = "vectorize", worker = .vectorize),'}
    (name = "state", disk = (path = "state", writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
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
  vectorize === undefined
    ? ""
    : `
const vectorize :Workerd.Worker = (
  modules = [${moduleOf(VECTORIZE)}],
  compatibilityDate = "${date}"
);
`
}`;
}

/** A Worker with the methods of the binding, which passes them on. */
const VECTORIZE = "vectorize.js";

function vectorizeModule(origin: string): string {
  return `import { WorkerEntrypoint } from "cloudflare:workers";

async function call(method, ...given) {
  const response = await fetch("${origin}/" + method, { method: "POST", body: JSON.stringify(given) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

export default class extends WorkerEntrypoint {
  describe() { return call("describe"); }
  query(...given) { return call("query", ...given); }
  getByIds(...given) { return call("getByIds", ...given); }
  upsert(...given) { return call("upsert", ...given); }
  deleteByIds(...given) { return call("deleteByIds", ...given); }
}
`;
}

function moduleOf(name: string): string {
  const type = name.endsWith(".bin") ? "data" : "esModule";
  return `(name = "${name}", ${type} = embed "${name}")`;
}
