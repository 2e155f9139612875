import { discard, requireNoCoding, tooLarge } from "./body.ts";

/** A body that is passed on while it arrives, up to a number of bytes. */
export class Upload {
  readonly #limit: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #broken = new AbortController();
  #bytes = 0;

  /** @throws ProblemError 413 for a Content-Length over the limit, 415 for an encoded body */
  constructor(request: Request, limit: number) {
    requireNoCoding(request.headers.get("content-encoding"));
    if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
    this.#limit = limit;
    this.#reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  }

  /**
   * Aborted when the rest of the body will not come: the client has left, or there are too many bytes. The stream then stays
   * open, because workerd's `fetch` sends a stream that fails as if it were complete.
   */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: async (controller) => {
        const value = await this.#read();
        if (value === "end") return controller.close();
        if (value !== "lost") this.#bytes += value.byteLength;
        if (value === "lost" || this.#tooLarge) return this.#break();
        controller.enqueue(value);
      },
    });
  }

  /** Reads what is left, for a response that comes before the end. @throws ProblemError 413 */
  async end(): Promise<void> {
    // The client may leave.
    if (this.#reader !== undefined) await discard(this.#reader).catch(() => undefined);
    if (this.#tooLarge) throw tooLarge(this.#limit);
  }

  /** @returns `lost` when the client has left */
  async #read(): Promise<Uint8Array | "end" | "lost"> {
    try {
      return (await this.#reader?.read())?.value ?? "end";
    } catch {
      return "lost";
    }
  }

  #break(): Promise<never> {
    this.#broken.abort();
    return new Promise(() => {});
  }

  get #tooLarge(): boolean {
    return this.#bytes > this.#limit;
  }
}
