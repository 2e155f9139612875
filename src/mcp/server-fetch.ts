import type { OutgoingDependencies, Secrets } from "../outgoing/dependencies.ts";
import { type GivenHeaders, openHeaders } from "../outgoing/headers.ts";
import { McpError } from "./mcp-error.ts";

/** Bytes of one response: of a list, a result, or a stream of events. */
const MAX_RESPONSE_BYTES = 16_000_000;

/** Of a request that has no time limit of its own. */
const END_SESSION_MS = 5_000;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface ServerFetchOptions {
  dependencies: OutgoingDependencies;
  headers: GivenHeaders;
  secrets: Secrets;
  /** Gets the error when a response exceeds the limit; its stream ends with it. */
  onExcess: (error: McpError) => void;
}

/**
 * A `fetch` for the SDK's transports that keeps to the rules for outgoing requests: headers with secrets, no redirects,
 * limited responses.
 */
export function serverFetch({
  dependencies,
  headers,
  secrets,
  onExcess,
}: ServerFetchOptions): Fetch {
  return async (url, init = {}) => {
    const sent = openHeaders(headers, secrets);
    // Those of the protocol go first: session, version, content type.
    new Headers(init.headers).forEach((value, name) => sent.set(name, value));
    const signal = init.method === "DELETE" ? endSignal(init.signal) : init.signal;
    const response = await (dependencies.fetch ?? fetch)(String(url), {
      ...init,
      headers: sent,
      redirect: "manual",
      ...(signal && { signal }),
    });
    return limited(response, onExcess);
  };
}

function endSignal(signal: AbortSignal | null | undefined): AbortSignal {
  const late = AbortSignal.timeout(END_SESSION_MS);
  return signal ? AbortSignal.any([signal, late]) : late;
}

function limited(response: Response, onExcess: (error: McpError) => void): Response {
  if (response.body === null) return response;
  let left = MAX_RESPONSE_BYTES;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left >= 0) return controller.enqueue(chunk);
        const error = new McpError(
          "mcp_protocol",
          `The MCP server sent more than ${MAX_RESPONSE_BYTES} bytes in one response.`,
        );
        onExcess(error);
        controller.error(error);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}
