/** A body that was longer than it may be. */
export class BodyTooLongError extends Error {}

/**
 * The body of a response, in pieces. It is cancelled when the caller stops reading, and with the signal.
 *
 * @throws BodyTooLongError beyond the limit; the signal's reason; the error of the Worker that wrote it
 */
export async function* piecesOf(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  // A cancelled body ends as if it were complete.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    for (let left = maxBytes; ;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      left -= value.length;
      if (left < 0) throw new BodyTooLongError(`more than ${maxBytes} bytes`);
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
