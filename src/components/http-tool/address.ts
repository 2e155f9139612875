import { ValueError } from "../../core/errors.ts";
import { isExactNumber, type Json, type JsonObject } from "../../core/json.ts";
import type { HttpToolSettings } from "./config.ts";

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The URL of an HttpTool, with placeholders for arguments in its path. */
export class Address {
  /** Names of the arguments in the path. */
  readonly parameters: ReadonlySet<string>;
  readonly #origin: URL;
  readonly #path: string;

  /** @throws ValueError naming the field that is not valid in a URL, or a placeholder without an argument */
  constructor({ scheme, host, port, path, json_schema }: HttpToolSettings) {
    this.#origin = originOf(scheme, host, port);
    this.#path = path;
    this.parameters = new Set(Array.from(path.matchAll(PLACEHOLDER), ([, name = ""]) => name));
    const known = Object.keys((json_schema["properties"] as JsonObject | undefined) ?? {});
    for (const name of this.parameters) {
      if (known.includes(name)) continue;
      const named = known.length === 0 ? "has none" : `has ${known.join(", ")}`;
      throw refused(
        "path",
        `names "{${name}}", which is not a property of json_schema: it ${named}`,
      );
    }
    if (this.#fill(path.replace(PLACEHOLDER, "x")) === undefined) {
      throw refused("path", 'must not have the segments ".." and ".", or a backslash');
    }
  }

  /** Scheme, host and port: the destination of secrets. */
  get origin(): string {
    return this.#origin.origin;
  }

  /**
   * The URL for the given arguments. A value cannot change the path outside of its placeholder.
   *
   * @throws ValueError for a value that is not possible there
   */
  url(args: JsonObject): URL {
    const path = this.#path.replace(PLACEHOLDER, (_, name: string) => pathValue(name, args[name]));
    const url = this.#fill(path);
    if (url !== undefined) return url;
    throw new ValueError(`the arguments ${[...this.parameters].join(", ")} make an invalid path`);
  }

  /** Undefined if a part of the path would remove another: `..` does, even if it results from two values. */
  #fill(path: string): URL | undefined {
    const url = new URL(this.#origin);
    const absolute = path.startsWith("/") ? path : `/${path}`;
    url.pathname = absolute;
    return url.pathname.split("/").length === absolute.split("/").length ? url : undefined;
  }
}

function originOf(scheme: string, host: string, port: number): URL {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const text = `${scheme}://${name}:${port}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url?.pathname === "/" && url.username === "" && url.search === "" && url.hash === "";
  if (url !== undefined && plain && !/[/\\?#@]/.test(host)) return url;
  throw refused("host", "must be the name or address of a host, without scheme, port or path");
}

/** Servers may decode `%2F` before they look at dots, so dots between slashes are refused as well. */
function pathValue(name: string, input: Json | undefined): string {
  const value = isExactNumber(input) ? input.rawJSON : input;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw new ValueError(`${name} is a part of the path and must be a text`);
  }
  const text = wellFormed(String(value));
  if (text === "") throw new ValueError(`${name} is a part of the path and must not be empty`);
  if (text.split(/[/\\]/).some((part) => part === "." || part === "..")) {
    throw new ValueError(`${name} is a part of the path and must not contain "." or ".." segments`);
  }
  return encodeURIComponent(text);
}

/** Unpaired surrogates cannot be encoded; models write them when a character is cut off. */
function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

function refused(path: string, message: string): ValueError {
  return new ValueError(`${path} ${message}`, { issues: [{ path, message }] });
}
