/** Bytes of one read into a buffer, at first and once a read has filled it. */
const SMALL_BUFFER_BYTES = 4 * 1024;
const LARGE_BUFFER_BYTES = 32 * 1024;

/**
 * True if a read without a buffer takes 4 KB at most, however much has arrived, and so costs more than its data. That
 * is so in Workers, which alone have this method. Elsewhere a buffer only costs a copy.
 */
const READS_LITTLE =
  typeof ReadableStreamBYOBReader === "function" &&
  "readAtLeast" in ReadableStreamBYOBReader.prototype;

type Piece = { done: false; value: Uint8Array } | { done: true; value?: Uint8Array | undefined };

/** Reads the body of an answer. */
export interface BodyReader {
  /** The next piece, which is valid until the next call. */
  read(): Promise<Piece>;
  cancel(): Promise<void>;
}

/** A reader that takes the received bytes with as few reads as possible. */
export function readerOf(body: ReadableStream<Uint8Array>): BodyReader {
  if (!READS_LITTLE) return body.getReader();
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    // A stream that was made in JavaScript, whose pieces may have any size.
    return body.getReader();
  }
  return new BufferedReader(reader);
}

/** Reads into one buffer again and again; few streams need a large one. */
class BufferedReader implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  #buffer: ArrayBufferLike = new ArrayBuffer(SMALL_BUFFER_BYTES);

  constructor(reader: ReadableStreamBYOBReader) {
    this.#reader = reader;
  }

  async read(): Promise<Piece> {
    const result = await this.#reader.read(new Uint8Array(this.#buffer));
    const { value } = result;
    if (value === undefined) return result;
    const full = value.byteLength === value.buffer.byteLength;
    this.#buffer =
      full && value.byteLength < LARGE_BUFFER_BYTES
        ? new ArrayBuffer(LARGE_BUFFER_BYTES)
        : value.buffer;
    return result;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** The longest part of an error answer to read. */
const LONGEST_ERROR_BYTES = 64 * 1024;

/**
 * Reads the beginning of an error answer, and closes the connection when there is more.
 *
 * @throws the signal's reason when it aborted
 */
export async function readErrorText(
  { body }: Response,
  signal: AbortSignal | null | undefined,
): Promise<string> {
  if (body === null) return "";
  const reader = body.getReader();
  // Rejects when the connection is broken already.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", cancel, { once: true });
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  try {
    while (bytes < LONGEST_ERROR_BYTES) {
      const { done, value } = await reader.read();
      // A cancelled body ends as if it were complete.
      signal?.throwIfAborted();
      if (done) return parts.join("") + decoder.decode();
      parts.push(decoder.decode(value.subarray(0, LONGEST_ERROR_BYTES - bytes), { stream: true }));
      bytes += value.byteLength;
    }
    return parts.join("");
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}
