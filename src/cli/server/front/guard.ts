import { beginningOf } from "../../../core/cut.ts";
import type { IncomingMessage } from "node:http";
import { localProblem } from "../../../api/auth/local.ts";
import type { Problem } from "../../../contract/problem.ts";
import { MAX_REQUEST_BYTES } from "../../../api/http/endpoint/limits.ts";

/** Paths that miniflare answers itself. Its explorer shows the stored data of all Workers on this machine. */
const OF_MINIFLARE = /^\/(cdn-cgi|__cf_local)(\/|$)/i;

/**
 * Why a request is refused before it reaches the Worker; undefined when it is not.
 *
 * @param open whether only local requests are allowed
 * @param origins whose requests count as local
 */
export function requestProblem(
  { url = "", headers, headersDistinct }: IncomingMessage,
  open: boolean,
  origins: ReadonlySet<string>,
): Problem | undefined {
  const hosts = headersDistinct["host"] ?? [];
  const [host = ""] = hosts;
  if (hosts.length !== 1) return malformed("The request must have one Host header.");
  if (!isHost(host)) {
    return malformed(
      `The Host header ${JSON.stringify(beginningOf(host, 100))} is not a valid host.`,
    );
  }
  const full = `http://${host}${url}`;
  if (!url.startsWith("/") || !URL.canParse(full)) {
    return malformed("The request line must name a path.");
  }
  if (open) {
    const header = (name: string): string | null => {
      const value = headers[name];
      return typeof value === "string" ? value : null;
    };
    const problem = localProblem(host, header, origins);
    if (problem !== undefined) return problem;
  }
  if (Number(headers["content-length"] ?? 0) > MAX_REQUEST_BYTES) {
    const detail = `The body is larger than ${MAX_REQUEST_BYTES} bytes, which Cloudflare does not accept.`;
    return { status: 413, code: "body_too_large", detail };
  }
  if (!OF_MINIFLARE.test(new URL(full).pathname)) return undefined;
  return { status: 404, code: "not_found", detail: "This path does not exist." };
}

function isHost(host: string): boolean {
  if (!/^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(host)) return false;
  return URL.canParse(`http://${host}/`);
}

function malformed(detail: string): Problem {
  return { status: 400, code: "malformed_request", detail };
}
