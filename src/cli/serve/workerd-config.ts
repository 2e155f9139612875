import type { BuiltWorkerManifest } from "./manifest.ts";

export interface WorkerdConfigOptions {
  manifest: BuiltWorkerManifest;
  /** Values of text bindings; they take precedence over the variables of the manifest. */
  vars: Readonly<Record<string, string>>;
  /** The Unix socket that serves the static assets; undefined without them. */
  assets: string | undefined;
  /** Host and port of the sandbox, which becomes the binding SANDBOX; undefined without one. */
  sandbox: string | undefined;
}

/** The names of the services whose addresses and directories the arguments of workerd have. */
export const STATE_SERVICE = "state";
export const SOCKET = "entry";

/**
 * The configuration of workerd for a Worker, in the language of Cap'n Proto. Modules are read from the import path. It contains
 * secrets.
 */
export function workerdConfig(options: WorkerdConfigOptions): string {
  const { manifest, assets, sandbox } = options;
  const classes = [...new Set(Object.values(manifest.objects))];
  // Miniflare's names, so that `npm start` and `troupe serve` use the same databases.
  const namespaces = classes.map(
    (name) =>
      `(className = ${quote(name)}, uniqueKey = ${quote(`${manifest.name}-${name}`)}, enableSql = true)`,
  );
  const services = [
    `(name = "main", worker = .main)`,
    `(name = "${STATE_SERVICE}", disk = (writable = true))`,
    // Requests to host names go through the server's proxy; the Worker itself checks addresses.
    `(name = "internet", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true)))`,
    ...(assets === undefined ? [] : [external("assets", `unix:${assets}`)]),
    ...(sandbox === undefined ? [] : [external("sandbox", sandbox)]),
  ];
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [${services.join(", ")}],
  sockets = [(name = "${SOCKET}", http = (), service = "main")],
  logging = (structuredLogging = true)
);

const main :Workerd.Worker = (
  modules = [${manifest.modules.map(({ name, type }) => `(name = ${quote(name)}, ${type} = embed ${quote(`/${name}`)})`).join(", ")}],
  compatibilityDate = ${quote(manifest.compatibility_date)},
  compatibilityFlags = [${manifest.compatibility_flags.map(quote).join(", ")}],
  bindings = [${bindings(options).join(", ")}],
  durableObjectNamespaces = [${namespaces.join(", ")}],
  durableObjectStorage = (localDisk = "${STATE_SERVICE}")
);
`;
}

function bindings({ manifest, vars, assets, sandbox }: WorkerdConfigOptions): string[] {
  const variables = { ...manifest.vars, ...vars };
  return [
    ...Object.entries(manifest.objects).map(
      ([name, type]) => `(name = ${quote(name)}, durableObjectNamespace = ${quote(type)})`,
    ),
    ...Object.entries(variables).map(([name, value]) =>
      typeof value === "string"
        ? `(name = ${quote(name)}, text = ${quote(value)})`
        : `(name = ${quote(name)}, json = ${quote(JSON.stringify(value))})`,
    ),
    ...manifest.loaders.map(
      (name) => `(name = ${quote(name)}, workerLoader = (id = ${quote(name)}))`,
    ),
    ...(manifest.assets === null || assets === undefined
      ? []
      : [`(name = ${quote(manifest.assets.binding)}, service = "assets")`]),
    ...(sandbox === undefined ? [] : [`(name = "SANDBOX", service = "sandbox")`]),
  ];
}

function external(name: string, address: string): string {
  return `(name = "${name}", external = (address = ${quote(address)}, http = ()))`;
}

/** A text of Cap'n Proto: other bytes than those of printable ASCII as hexadecimal escapes. */
function quote(text: string): string {
  const bytes = Array.from(Buffer.from(text), (byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    return isPlain ? String.fromCodePoint(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
  return `"${bytes.join("")}"`;
}
