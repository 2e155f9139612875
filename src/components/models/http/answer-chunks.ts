import { ModelError } from "../../../core/models/model-error.ts";
import { type BodyReader, readerOf } from "./body-reader.ts";

/** How long a server may take to end its answer after the last chunk, before the connection is closed. */
const PATIENCE_MS = 500;

/** Limit of a streamed answer. An endless one must not keep a run going for ever. */
const LARGEST_STREAM_BYTES = 64 * 1024 * 1024;

/** Limit of the text buffered for JSON parsing. An endless answer must not fill the memory of the isolate. */
export const LARGEST_JSON_BYTES = 16 * 1024 * 1024;

/**
 * Reads the chunks of a streamed answer. Chunks that arrived in one packet are returned together, because an `await`
 * per token costs more than everything else that happens to it.
 */
export abstract class AnswerChunks<Chunk> {
  readonly #body: BodyReader;
  readonly #decoder = new TextDecoder();
  #bytes = 0;
  #ready: Chunk[] = [];
  #ended = false;

  /** @throws SyntaxError when the answer has no body */
  constructor({ body }: Response) {
    if (body === null) throw new SyntaxError("the answer has no body");
    this.#body = readerOf(body);
  }

  /** Takes the next piece of text and calls {@link add} for each chunk that is complete. */
  protected abstract feed(text: string): void;

  /** Called when the body has ended, for formats whose last chunk may lack its delimiter. */
  protected abstract flush(): void;

  /** Adds a chunk. Those after the last one are ignored. */
  protected add(chunk: Chunk): void {
    if (!this.#ended) this.#ready.push(chunk);
  }

  /** Whether the last chunk was returned. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Marks the chunks so far as complete. */
  protected end(): void {
    this.#ended = true;
  }

  /**
   * The next chunks, perhaps none; undefined after the last.
   *
   * @throws SyntaxError for a chunk that is not JSON
   * @throws ModelError `bad_response` for an answer that is too large
   */
  async next(): Promise<Chunk[] | undefined> {
    if (this.#ended) return undefined;
    const { done, value } = await this.#body.read();
    if (done) {
      this.flush();
      this.#ended = true;
    } else {
      this.#bytes += value.byteLength;
      if (this.#bytes > LARGEST_STREAM_BYTES) throw tooLarge(LARGEST_STREAM_BYTES);
      this.feed(this.#decoder.decode(value, { stream: true }));
    }
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  /** After the last chunk: waits a moment for the server to end its answer, so that the connection can be reused. */
  finish(): void {
    const timer = setTimeout(() => this.cancel(), PATIENCE_MS);
    void this.#body
      .read()
      .catch(() => undefined) // The reply is complete; a connection that breaks now causes no loss.
      .finally(() => {
        clearTimeout(timer);
        this.cancel();
      });
  }

  /** Closes the connection; a pending {@link next} ends at once. */
  cancel(): void {
    // Rejects when the connection is broken already.
    this.#body.cancel().catch(() => undefined);
  }
}

/** The error for an answer above a limit. Another attempt would get the same answer. */
export function tooLarge(limit: number): ModelError {
  return new ModelError("bad_response", `The model server's answer is larger than ${limit} bytes`, {
    retryable: false,
  });
}
