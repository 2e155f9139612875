import type { IncomingMessage } from "node:http";

/** Headers of one connection only (RFC 9110, 7.6.1), and headers that are written again for the other connection. */
const OF_CONNECTION = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Headers that a client may not set: `MF-Original-URL` and others that miniflare reads, the client's address, and headers
 * between the parts of the local server. `Troupe-Tenant` is a header of the API.
 */
const INTERNAL = /^(mf-|cf-connecting-ip$|troupe-front-key$|troupe-egress-)/;

/**
 * The headers of a request as they are passed on, as a flat list of names and values.
 *
 * @param host replaces the request's host
 */
export function forwardedRequestHeaders(
  { method = "GET", rawHeaders, headers }: IncomingMessage,
  host?: string,
): string[] {
  const list = ["host", host ?? headers.host ?? "", "connection", "keep-alive"];
  const length = headers["content-length"];
  if (headers["transfer-encoding"] !== undefined) list.push("transfer-encoding", "chunked");
  else if (length !== undefined) list.push("content-length", length);
  // Without a length Node would send an empty body in chunks.
  else if (!["GET", "HEAD", "OPTIONS"].includes(method)) list.push("content-length", "0");
  list.push(...ofMessage(rawHeaders, headers.connection, (name) => !INTERNAL.test(name)));
  return list;
}

/** The headers of a request for a WebSocket as they are passed on. */
export function forwardedUpgradeHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  return [
    "host",
    headers.host ?? "",
    "connection",
    "Upgrade",
    "upgrade",
    "websocket",
    ...ofMessage(rawHeaders, headers.connection, (name) => !INTERNAL.test(name)),
  ];
}

/**
 * The headers of a response as they are passed on.
 */
export function forwardedResponseHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const length = headers["content-length"];
  return [
    ...(length === undefined ? [] : ["content-length", length]),
    ...ofMessage(rawHeaders, headers.connection, () => true),
  ];
}

/**
 * @param connection names more headers of the connection
 */
function ofMessage(
  raw: string[],
  connection: string | undefined,
  allowed: (name: string) => boolean,
): string[] {
  const named = new Set((connection ?? "").toLowerCase().split(/[\s,]+/));
  return raw.filter((_, index) => {
    const name = (raw[index - (index % 2)] ?? "").toLowerCase();
    return !OF_CONNECTION.has(name) && !named.has(name) && allowed(name);
  });
}
