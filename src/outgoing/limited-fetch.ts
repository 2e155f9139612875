import { TroupeError } from "../core/errors.ts";

/** The most bytes of an answer whose reader has no limit of its own. */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024;

/** The time for a request without a signal, with its answer. */
const MOST_MS = 60_000;

/** Options of an outgoing request, beside those of `fetch`. */
export interface OutgoingInit extends RequestInit {
  /**
   * Bytes of the answer; `own` if the caller counts those of a good answer itself. Default: {@link MOST_ANSWER_BYTES}.
   */
  limit?: number | "own";
  /**
   * The address of the document that named the URL; null for a URL that a client sent. Its host must not be a loopback or private
   * address, whatever name it has, unless the settings name it or the document is of the same server.
   */
  namedBy?: string | null;
  /**
   * True if the request must not reach the server twice. If the host can, it then says of a failure that no connection was
   * made ({@link NoConnectionError}).
   */
  once?: boolean;
}

/** Sends an outgoing request. */
export type OutgoingFetch = (
  input: string | URL | Request,
  init?: OutgoingInit,
) => Promise<Response>;

/** An answer above a limit. Trying again does not help. */
export class AnswerTooLargeError extends TroupeError {
  readonly retryable = false;

  /** @param answer what is too large: `The answer of "api.example.com"` */
  constructor(answer: string, limit: number) {
    super("answer_too_large", `${answer} is larger than ${limit} bytes, the most that is read`);
  }
}

const LIMITED = new WeakMap<OutgoingFetch, OutgoingFetch>();

/** A `fetch` whose answers have a limit of size, and whose requests have one of time. */
export function limitedFetch(send: OutgoingFetch): OutgoingFetch {
  const existing = LIMITED.get(send);
  if (existing !== undefined) return existing;
  const limiting: OutgoingFetch = async (input, { limit = MOST_ANSWER_BYTES, ...init } = {}) => {
    const own = init.signal ?? (input instanceof Request ? input.signal : undefined);
    const response = await send(input, { ...init, signal: own ?? AbortSignal.timeout(MOST_MS) });
    if (limit === "own" && response.ok) return response;
    const { host } = new URL(input instanceof Request ? input.url : input);
    return limited(response, host, limit === "own" ? MOST_ANSWER_BYTES : limit);
  };
  LIMITED.set(send, limiting);
  LIMITED.set(limiting, limiting);
  return limiting;
}

/**
 * Reads only on demand: a pipe would continue when its reader stops.
 *
 * @throws AnswerTooLargeError, also from the body
 */
async function limited(response: Response, host: string, limit: number): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const tooLarge = (): AnswerTooLargeError =>
    new AnswerTooLargeError(`The answer of "${host}"`, limit);
  const announced = headers.get("content-length");
  if (announced !== null && Number(announced) > limit) {
    await body.cancel().catch(() => undefined);
    throw tooLarge();
  }
  // The connection ends such a body. A compressed one has more bytes than it announces.
  if (announced !== null && !headers.has("content-encoding")) return response;
  const reader = body.getReader();
  let left = limit;
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        left -= value.byteLength;
        if (left >= 0) return controller.enqueue(value);
        await reader.cancel().catch(() => undefined);
        throw tooLarge();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // The stream reads nothing before its reader does.
    { highWaterMark: 0 },
  );
  return new Response(counted, { status, statusText, headers });
}
