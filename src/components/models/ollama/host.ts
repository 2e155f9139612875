import { ValueError } from "../../../core/errors.ts";
import { trimEnd } from "../../../core/text/trim-end.ts";
import { type OutgoingDependencies, readEnv } from "../../../outgoing/dependencies.ts";

const DEFAULT_HOST = "http://localhost:11434";
const DEFAULT_PORT = "11434";

/** The host of a client: that of its config, else the setting's, else this machine. */
export function hostOf(
  { host }: { host?: string | null | undefined },
  dependencies: OutgoingDependencies,
): string {
  return host ?? readEnv(dependencies, "OLLAMA_HOST") ?? DEFAULT_HOST;
}

/**
 * The base URL of an Ollama server. As Ollama's own clients do, it completes a host without a scheme (http) and without
 * a port (11434, unless the scheme was given).
 *
 * @param host `localhost`, `:11434`, `gpu:8080` or `https://ollama.example.com/base`
 * @throws ValueError for an invalid one
 */
export function baseUrlOf(host: string): string {
  const text = host.trim();
  const hasScheme = text.includes("://");
  const address = hasScheme ? text : `http://${text.startsWith(":") ? "localhost" : ""}${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new ValueError(
      `Invalid host of an Ollama server: use a host name with an optional port, or an http:// or https:// URL`,
      { issues: [{ path: "host", message: "must be a host name or an http:// or https:// URL" }] },
    );
  if (url.username !== "" || url.password !== "")
    throw new ValueError("The host of an Ollama server must not contain credentials: use headers", {
      issues: [{ path: "host", message: "must not contain credentials; use headers" }],
    });
  // The URL class drops the default port of its scheme.
  if (!hasScheme && url.port === "" && !/:80(\/|$)/.test(address)) url.port = DEFAULT_PORT;
  // OLLAMA_HOST also says where the server listens: on every interface, including this machine's.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  url.search = "";
  url.hash = "";
  // The address of the same server for clients of OpenAI's API.
  return trimEnd(url.href, "/").replace(/\/v1$/, "");
}
