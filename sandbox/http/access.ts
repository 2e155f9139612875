import { createHash, timingSafeEqual } from "node:crypto";
import { ProblemError } from "../problem.ts";

/**
 * Authorizes a request. With a key, the request must have it. Without one the service listens on loopback addresses only, and
 * requests of web pages in a browser on this machine are refused: they have a foreign Origin, or a foreign Host after DNS
 * rebinding.
 *
 * @throws ProblemError 401 or 403
 */
export function requireAccess(
  key: string | undefined,
  header: (name: string) => string | undefined,
): void {
  if (key === undefined) return requireLocal(header);
  const given = /^bearer +(\S+) *$/i.exec(header("authorization") ?? "")?.[1];
  if (given !== undefined && timingSafeEqual(digest(given), digest(key))) return;
  throw new ProblemError(401, "unauthorized", "Send the key as Authorization: Bearer <key>.", {
    headers: { "www-authenticate": "Bearer" },
  });
}

function requireLocal(header: (name: string) => string | undefined): void {
  if (!isLocal(header("host") ?? "")) throw foreign("Host");
  const origin = header("origin");
  if (origin !== undefined && !isLocal(origin.replace(/^https?:\/\//i, "")))
    throw foreign("Origin");
  if (origin === undefined && header("sec-fetch-site") === "cross-site")
    throw foreign("Sec-Fetch-Site");
}

function isLocal(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host);
}

function foreign(header: string): ProblemError {
  return new ProblemError(
    403,
    "not_local",
    `Without a key the sandbox answers local requests only, but ${header} names another host.`,
  );
}

/** Has the same length for all keys, as a comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
