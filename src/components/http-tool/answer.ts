import { beginningOf } from "../../core/cut.ts";
import { type Json, mapTexts, parseJson } from "../../core/json.ts";
import { toBase64 } from "../../core/base64.ts";
import { imageMediaType } from "../../core/models/images.ts";
import { imageAsText } from "../../core/models/shown-images.ts";
import {
  askedWaitText,
  outlookOfStatus,
  RequestError,
  type RequestErrorOptions,
} from "../../outgoing/request-error.ts";

/** Below the limit of a tool's result, so that the note about the truncation is not truncated itself. */
const MAX_ANSWER_BYTES = 900_000;

/** As base64 it fits the limit of a tool's result. */
const MAX_IMAGE_BYTES = 700_000;

/** Error responses may be whole web pages. */
const MAX_ERROR_BYTES = 10_000;

/** A request without a usable response. */
export class HttpToolError extends RequestError {
  constructor(
    code: "http_status" | "http_timeout" | "http_connection" | "http_bad_answer",
    message: string,
    options: RequestErrorOptions = {},
  ) {
    super(code, message, options);
  }
}

/** The way to read an answer. */
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
  if (as === "text" && /^image\//i.test(response.headers.get("content-type") ?? "")) {
    return readImage(response, signal);
  }
  const { text, cut } = await readText(response, MAX_ANSWER_BYTES, signal);
  if (as === "text") {
    const displayed = redact(text);
    return cut ? `${displayed}\n[Cut: these are the first ${MAX_ANSWER_BYTES} bytes.]` : displayed;
  }
  if (text.trim() === "") return null;
  try {
    return mapTexts(redact, parseJson(text));
  } catch {
    const why = cut ? `is longer than ${MAX_ANSWER_BYTES} bytes` : "is not JSON";
    throw new HttpToolError(
      "http_bad_answer",
      `The request was done (HTTP ${response.status}), but the answer ${why}. It begins: ${beginningOf(redact(text), 500)}`,
    );
  }
}

/** An image in the form of tool results, or a line if it is not an image for models. */
async function readImage(response: Response, signal: AbortSignal): Promise<string> {
  const type = response.headers.get("content-type") ?? "";
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  await readBytes(response, signal, (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    return size <= MAX_IMAGE_BYTES;
  });
  if (size > MAX_IMAGE_BYTES) {
    return `[Image: ${type}, more than ${MAX_IMAGE_BYTES} bytes, too large to show]`;
  }
  const data = toBase64(new Uint8Array(await new Blob(chunks).arrayBuffer()));
  return imageMediaType(data) === undefined
    ? `[Image: ${type}, ${size} bytes, not in a format that models see: PNG, JPEG, WebP or GIF]`
    : imageAsText({ data });
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
  const outlook = outlookOfStatus(status, headers);
  const wait = outlook.retryable ? askedWaitText(outlook.retryAfterMs) : "";
  return new HttpToolError("http_status", redact(message) + wait, outlook);
}

/** Reads at most `limit` bytes, then cancels the body. */
async function readText(
  response: Response,
  limit: number,
  signal: AbortSignal,
): Promise<{ text: string; cut: boolean }> {
  const decoder = decoderOf(response.headers.get("content-type") ?? "");
  let text = "";
  let left = limit;
  await readBytes(response, signal, (chunk) => {
    text += decoder.decode(chunk.subarray(0, left), { stream: true });
    left -= chunk.length;
    return left >= 0;
  });
  return left < 0 ? { text, cut: true } : { text: text + decoder.decode(), cut: false };
}

/** Reads the body chunk by chunk, and cancels it when `take` returns false. */
async function readBytes(
  response: Response,
  signal: AbortSignal,
  take: (chunk: Uint8Array<ArrayBuffer>) => boolean,
): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  // Not every runtime ends a body with the signal of its request. A cancelled body ends as if it were complete; if
  // it has already failed, reading it throws.
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      if (take(chunk.value)) continue;
      await reader.cancel();
      return;
    }
    signal.throwIfAborted();
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
