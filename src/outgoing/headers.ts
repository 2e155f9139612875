import type { Note } from "../core/component/component.ts";
import { errorMessage, ValueError } from "../core/errors.ts";
import { isReference, type OutgoingDependencies, Secrets } from "./dependencies.ts";

/** They belong to the connection, or would direct the request to a host that was not checked. */
const RESERVED = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers of a config. */
export type GivenHeaders = { readonly [name: string]: string | number | boolean };

/** @param path the place of the headers in the config @throws ValueError naming the header that cannot be sent */
export function checkHeaders(headers: GivenHeaders, path = "headers"): void {
  for (const [name, value] of Object.entries(headers)) {
    const message = problem(name, String(value));
    if (message === undefined) continue;
    throw new ValueError(`the header "${name}" ${message}`, {
      issues: [{ path: `${path}.${name}`, message }],
    });
  }
}

/**
 * The headers to send, with the secrets they refer to.
 *
 * @throws TroupeError when a secret does not exist or must not be sent there
 */
export function openHeaders(headers: GivenHeaders, secrets: Secrets): Headers {
  const opened = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    const text = String(value);
    opened.set(name, isReference(text) ? secrets.resolve(text) : text);
  }
  return opened;
}

/**
 * Remarks on headers that refer to secrets which this server does not have, or does not send to the address. A program may set
 * its secrets later.
 *
 * @param path the place of the headers, from the component
 */
export function headerNotes(
  headers: GivenHeaders | null | undefined,
  url: string,
  dependencies: OutgoingDependencies,
  path = "config.headers",
): Note[] {
  if (dependencies.secret === undefined) return [];
  return Object.entries(headers ?? {}).flatMap(([name, value]) => {
    try {
      openHeaders({ [name]: value }, new Secrets(dependencies, url, {}));
      return [];
    } catch (error) {
      return [{ path: `${path}.${name}`, message: errorMessage(error) }];
    }
  });
}

function problem(name: string, value: string): string | undefined {
  if (RESERVED.has(name.toLowerCase())) return "is set by the connection";
  try {
    new Headers().set(name, value);
    return undefined;
  } catch {
    return "has an invalid name or value";
  }
}
