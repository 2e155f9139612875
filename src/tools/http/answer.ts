import { TroupeError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { retryAfter } from "../../outgoing/retry-after.ts";

/** Below the limit of a tool's result, so that the note about the truncation is not truncated itself. */
const MAX_ANSWER_BYTES = 900_000;

/** Error responses may be whole web pages. */
const MAX_ERROR_BYTES = 10_000;

/** A request without a usable response. `retryable` says whether the same request may succeed later. */
export class HttpToolError extends TroupeError {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: "http_status" | "http_timeout" | "http_connection" | "http_bad_answer",
    message: string,
    options: { retryable: boolean; retryAfterMs?: number | undefined },
  ) {
    super(code, message);
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** How an answer is read. */
export interface Reading {
  as: "text" | "json";
  /** Removes secrets: a server that echoes a request would show them to the model and in the stream. */
  redact: (text: string) => string;
  signal: AbortSignal;
}

/**
 * The body of a response, as text or as JSON.
 *
 * @throws HttpToolError with the beginning of the body, for a bad status or invalid JSON
 * @throws the signal's reason
 */
export async function readAnswer(response: Response, reading: Reading): Promise<Json> {
  const { as, redact, signal } = reading;
  if (!response.ok) throw await statusError(response, reading);
  const { text, cut } = await readText(response, MAX_ANSWER_BYTES, signal);
  if (as === "text") {
    const shown = redact(text);
    return cut ? `${shown}\n[Cut: these are the first ${MAX_ANSWER_BYTES} bytes.]` : shown;
  }
  if (text.trim() === "") return null;
  try {
    return JSON.parse(text, (_, value: Json) =>
      typeof value === "string" ? redact(value) : value,
    ) as Json;
  } catch {
    const why = cut ? `is longer than ${MAX_ANSWER_BYTES} bytes` : "is not JSON";
    throw new HttpToolError(
      "http_bad_answer",
      `The request was done (HTTP ${response.status}), but the answer ${why}. It begins: ${redact(text).slice(0, 500)}`,
      { retryable: false },
    );
  }
}

async function statusError(
  response: Response,
  { redact, signal }: Reading,
): Promise<HttpToolError> {
  const { status, statusText, headers } = response;
  const title = statusText === "" ? `HTTP ${status}` : `HTTP ${status} ${statusText}`;
  const { text, cut } = await readText(response, MAX_ERROR_BYTES, signal);
  const location = status < 400 ? headers.get("location") : null;
  const body = location === null ? text : `it leads to ${location}, and redirects are not followed`;
  const message = body.trim() === "" ? title : `${title}: ${body}${cut ? " [cut]" : ""}`;
  return new HttpToolError("http_status", redact(message), {
    retryable: isPassing(status),
    retryAfterMs: retryAfter(headers),
  });
}

function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

/** Reads at most `limit` bytes, then cancels the body. */
async function readText(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<{ text: string; cut: boolean }> {
  const decoder = decoderOf(response.headers.get("content-type") ?? "");
  const reader = response.body?.getReader();
  if (reader === undefined) return { text: "", cut: false };
  // Not every runtime ends a body with the signal of its request. A cancelled one ends as if it were complete; where
  // it has failed already, reading says so.
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    let text = "";
    let left = limit;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      const bytes = chunk.value as Uint8Array;
      text += decoder.decode(bytes.subarray(0, left), { stream: true });
      left -= bytes.length;
      if (left >= 0) continue;
      await reader.cancel();
      return { text, cut: true };
    }
    signal.throwIfAborted();
    return { text: text + decoder.decode(), cut: false };
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function decoderOf(contentType: string) {
  const label = /charset\s*=\s*"?([^";\s]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}
