import type { RunContext } from "../../../core/turn/run-context.ts";
import type { OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { openHeadersInRun } from "../../../outgoing/context-headers.ts";
import type { GivenHeaders } from "../../../outgoing/headers.ts";
import { outgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import type { ServerMessages } from "../answers/server-messages.ts";
import { McpError } from "../answers/mcp-error.ts";
import { isEventStream, readResponse } from "./read-responses.ts";

/** The most bytes of one response: of a list, a result, or a stream of events. */
const MAX_RESPONSE_BYTES = 16_000_000;

/** Time limit of requests that have none of their own: those that end a session, and those of OAuth. */
const END_SESSION_MS = 5_000;
const OAUTH_MS = 10_000;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface ServerFetchOptions {
  dependencies: OutgoingDependencies;
  /** URL of the server. */
  origin: string;
  /** The authorization server in the config. */
  issuer: string | undefined;
  /** Sent to the server, and to no other host that takes part in OAuth. */
  headers: GivenHeaders;
  secrets: Secrets;
  /** The run whose values the headers have. Undefined outside of a run. */
  run: RunContext | undefined;
  /** Reads what the server answers. Undefined where only requests of OAuth are made. */
  messages?: ServerMessages | undefined;
  /** Gets the error when a response exceeds the limit; the error also ends its stream. */
  onExcess: (error: McpError) => void;
  /** Gets each answer that refuses a request. */
  onRefused?: (response: Response) => void;
  /** Called when the stream of an awaited answer broke and cannot be resumed. */
  onLost: () => void;
}

/**
 * A `fetch` for the SDK's transports that keeps to the rules for outgoing requests: headers with secrets, no redirects,
 * limited responses.
 */
export function serverFetch({
  dependencies,
  origin,
  issuer,
  headers,
  secrets,
  run,
  messages,
  onExcess,
  onRefused,
  onLost,
}: ServerFetchOptions): Fetch {
  return async (url, init = {}) => {
    const target = new URL(url).origin;
    const sent = openHeadersInRun(target === origin ? headers : {}, secrets, run);
    // The protocol's own headers take precedence: session, version, content type.
    new Headers(init.headers).forEach((value, name) => sent.set(name, value));
    const signal =
      init.method === "DELETE"
        ? endSignal(init.signal)
        : (init.signal ?? AbortSignal.timeout(OAUTH_MS));
    const isMessage = messages !== undefined && isSentMessage(init.body, messages);
    const response = await outgoingFetch(dependencies)(String(url), {
      ...init,
      headers: sent,
      redirect: "manual",
      signal,
      limit: "own",
      once: isMessage,
      // Other addresses come from the server's answers and the documents that they name.
      ...(target !== issuer && { namedBy: origin }),
    });
    if (!response.ok) onRefused?.(response);
    const isStream = isEventStream(response);
    const brings = init.method === "POST" && isStream;
    const body = limited(response, onExcess, (resumable) => {
      if (brings && !resumable && !signal.aborted) onLost();
    });
    const isAnswer = isStream ? response.ok : isMessage && [200, 404].includes(response.status);
    return isAnswer && messages !== undefined ? readResponse(body, messages) : body;
  };
}

/** The SDK sends a message as JSON; requests of OAuth are forms, or JSON of another kind. */
function isSentMessage(body: RequestInit["body"], messages: ServerMessages): boolean {
  if (typeof body !== "string") return false;
  try {
    return messages.sent(JSON.parse(body));
  } catch {
    return false;
  }
}

function endSignal(signal: AbortSignal | null | undefined): AbortSignal {
  const late = AbortSignal.timeout(END_SESSION_MS);
  return signal ? AbortSignal.any([signal, late]) : late;
}

/**
 * Reads only on demand: a pipe would continue, and keep the object in memory, when its reader stops.
 *
 * @param onBroken called with whether an event with an id was received, after which the stream can be resumed
 */
function limited(
  response: Response,
  onExcess: (error: McpError) => void,
  onBroken: (resumable: boolean) => void,
): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let left = MAX_RESPONSE_BYTES;
  let resumable = false;
  const counted = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        onBroken(resumable);
        throw error;
      });
      if (done) return controller.close();
      left -= value.byteLength;
      resumable ||= /^id:/m.test(decoder.decode(value, { stream: true }));
      if (left >= 0) return controller.enqueue(value);
      const error = new McpError(
        "mcp_protocol",
        `The MCP server sent more than ${MAX_RESPONSE_BYTES} bytes in one response.`,
      );
      await reader.cancel();
      onExcess(error);
      throw error;
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(counted, { status, statusText, headers });
}
