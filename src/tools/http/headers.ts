import { ValueError } from "../../core/errors.ts";
import { isReference, type Secrets } from "../../outgoing/dependencies.ts";

/** They belong to the connection, or would lead the request to a host other than the one that was checked. */
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

const SECRET = /auth|cookie|key|token|secret|passw|credential/i;

/** Headers as a config has them. */
export type GivenHeaders = { readonly [name: string]: string | number | boolean };

/** @throws ValueError naming the header that cannot be sent */
export function checkHeaders(headers: GivenHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    const message = problem(name, String(value));
    if (message === undefined) continue;
    throw new ValueError(`the header "${name}" ${message}`, {
      issues: [{ path: `headers.${name}`, message }],
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
    const secret = isReference(text) || SECRET.test(name);
    opened.set(name, secret ? secrets.resolve(text) : text);
  }
  return opened;
}

function problem(name: string, value: string): string | undefined {
  if (RESERVED.has(name.toLowerCase())) return "is made by the connection";
  try {
    new Headers().set(name, value);
    return undefined;
  } catch {
    return "has a name or a value that no header can have";
  }
}
