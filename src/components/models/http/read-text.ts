import { LARGEST_JSON_BYTES, tooLarge } from "./answer-chunks.ts";

/**
 * Reads the text of an answer up to a limit, and closes the connection when there is more.
 *
 * @returns at most `limit` bytes of it
 * @throws the signal's reason when it aborted
 */
export async function readText(
  { body }: Response,
  limit: number,
  signal: AbortSignal,
): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  // Rejects when the connection is broken already.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel, { once: true });
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  try {
    while (bytes < limit) {
      const { done, value } = await reader.read();
      // A cancelled body ends as if it were complete.
      signal.throwIfAborted();
      if (done) return parts.join("") + decoder.decode();
      parts.push(decoder.decode(value.subarray(0, limit - bytes), { stream: true }));
      bytes += value.byteLength;
    }
    return parts.join("");
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/**
 * Reads the text of an answer that is JSON.
 *
 * @throws ModelError `bad_response` when it is too large; the signal's reason when it aborted
 */
export async function readJsonText(response: Response, signal: AbortSignal): Promise<string> {
  const text = await readText(response, LARGEST_JSON_BYTES, signal);
  // Truncated at the limit; in characters it is at most as long.
  if (text.length === LARGEST_JSON_BYTES) throw tooLarge(LARGEST_JSON_BYTES);
  return text;
}
