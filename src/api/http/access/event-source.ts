import { acceptsEventStream, EVENT_STREAM_HEADERS } from "../../../http/event-stream.ts";

/** Milliseconds before an EventSource that could not be served comes back. */
const COMES_BACK_MS = 5_000;

/** A request as far as it shows what sent it. */
interface Asked {
  method: string | undefined;
  header: (name: string) => string | null | undefined;
}

/** True if the request is for a stream, and can be repeated. */
export function wantsStream({ method, header }: Asked): boolean {
  return method === "GET" && acceptsEventStream(header("accept"));
}

/**
 * The answer to an EventSource in place of a refusal that passes, which is one that says when: 429 or 503 with Retry-After. The
 * stream ends at once and makes a browser come back, which gives up for good after any other status. Undefined for other
 * refusals and other clients.
 */
export function forEventSource(asked: Asked, { status, headers }: Response): Response | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isNaN(seconds) || !isFromEventSource(asked)) return undefined;
  const ms = Math.max(COMES_BACK_MS, Math.ceil(seconds * 1000));
  return new Response(`retry: ${ms}\n\n`, { headers: EVENT_STREAM_HEADERS });
}

/**
 * True if an EventSource may have sent the request: it accepts nothing but a stream, and cannot send a credential in a
 * header. A client that reads problem documents accepts these, too, or sends such a header.
 */
function isFromEventSource(asked: Asked): boolean {
  const { header } = asked;
  return wantsStream(asked) && !header("accept")?.includes(",") && !header("authorization");
}
