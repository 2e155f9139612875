import type { SandboxAddress } from "../components/sandbox/client/sandbox-connection.ts";
import type { WorkerLoaderBinding } from "../components/worker-loader/worker-loader.ts";
import type { CodePlace } from "../contract/code-place.ts";
import type { JavaScriptHost } from "../core/code/javascript-host.ts";
import { ValueError } from "../core/errors.ts";
import { codeWord } from "./parse-settings.ts";

interface Configured {
  /** The setting. */
  CODE?: string | undefined;
  LOADER?: WorkerLoaderBinding | undefined;
  /** A container for each session. */
  containers: SandboxAddress | undefined;
  /** A sandbox service, by its URL or binding. */
  service: SandboxAddress | undefined;
  /** True for a server on a machine of one's own, whose runtime limits neither time nor memory of a dynamic Worker. */
  local: boolean;
}

/** The places of code. */
export interface CodeChoice {
  place: CodePlace;
  /** Runs all code but what the loader runs; also files, documents and programs of MCP servers. */
  sandbox: SandboxAddress | undefined;
  /** Runs JavaScript; undefined where none runs. */
  javascript: (() => Promise<JavaScriptHost>) | undefined;
}

/**
 * Chooses where code runs. JavaScript takes the first of loader, containers and service that CODE allows, and other code the first of
 * the latter two.
 *
 * @throws ValueError naming the setting, if what it asks for is not configured
 */
export function codeChoice({ CODE, LOADER, containers, service, local }: Configured): CodeChoice {
  const word = codeWord(CODE);
  const isAllowed = (place: CodePlace): boolean => word === "auto" || word === place;
  if (word === "loader" && LOADER === undefined) throw missing(word, "the binding LOADER");
  if (word === "containers" && containers === undefined) {
    throw missing(word, "the binding CONTAINERS");
  }
  if (word === "service" && service === undefined) throw missing(word, "SANDBOX_URL");
  const loader = isAllowed("loader") && (word === "loader" || !local) ? LOADER : undefined;
  const inContainers = isAllowed("containers") ? containers : undefined;
  const sandbox = inContainers ?? (isAllowed("service") ? service : undefined);
  return {
    place: placeOf(loader !== undefined, inContainers !== undefined, sandbox !== undefined),
    sandbox,
    javascript: javaScriptOf(loader, sandbox),
  };
}

function missing(word: string, what: string): ValueError {
  return new ValueError(`CODE is ${JSON.stringify(word)}, which needs ${what}`);
}

function placeOf(loader: boolean, containers: boolean, sandbox: boolean): CodePlace {
  if (loader) return "loader";
  if (containers) return "containers";
  return sandbox ? "service" : "off";
}

/** Imported with the first component that runs JavaScript. */
function javaScriptOf(
  loader: WorkerLoaderBinding | undefined,
  sandbox: SandboxAddress | undefined,
): CodeChoice["javascript"] {
  if (loader !== undefined) {
    return async () =>
      (await import("../components/worker-loader/loader-javascript.ts")).loaderJavaScript(loader);
  }
  if (sandbox === undefined) return undefined;
  return async () => (await import("../components/sandbox/deployed.ts")).sandboxJavaScript(sandbox);
}
