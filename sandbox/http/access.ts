import { createHash, timingSafeEqual } from "node:crypto";
import { ProblemError } from "../problem.ts";
import { isLoopback, type Settings } from "../settings.ts";

/**
 * Authorizes a request. With a key, the request must have it. A service that listens on a loopback address only refuses requests
 * of web pages in a browser on this machine first: they have a foreign Origin, or a foreign Host after DNS rebinding. What has
 * the key is not such a page.
 *
 * @param open whether the path needs no key
 * @throws ProblemError 401 or 403
 */
export function requireAccess(
  { key, host }: Pick<Settings, "key" | "host">,
  header: (name: string) => string | undefined,
  open = false,
): void {
  const given = /^bearer +(\S+) *$/i.exec(header("authorization") ?? "")?.[1];
  const known = key !== undefined && given !== undefined;
  if (known && timingSafeEqual(digest(given), digest(key))) return;
  if (isLoopback(host)) requireLocal(header);
  if (key === undefined || open) return;
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
    `Without its key the sandbox answers local requests only, but ${header} names another host.`,
  );
}

/** Has the same length for all keys, as a comparison in constant time requires. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
