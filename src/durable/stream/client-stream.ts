/** Unread bytes of one client in memory, above which it is disconnected. */
const MOST_BEHIND_BYTES = 1_000_000;

/** The bytes of one client's stream. A client that is too far behind is disconnected and comes back by its cursor. */
export class ClientStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #left: () => void;
  #closed = false;
  #behind = 0;

  /** @param left called once, when the client has left or was disconnected */
  constructor(left: () => void) {
    this.#left = left;
    // Not a ReadableStream made in JavaScript: the runtime does not cancel that when the client leaves, whereas writes to
    // this one then fail.
    const { readable, writable } = new IdentityTransformStream();
    this.body = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.#leave());
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(bytes: Uint8Array): void {
    if (this.#closed) return;
    // A client without unread bytes gets frames of any size: they would be as large when it comes back.
    if (this.#behind > 0 && this.#behind + bytes.length > MOST_BEHIND_BYTES) this.close();
    else void this.write(bytes);
  }

  /** Sends the bytes however far the client is behind. Resolves when it has taken them, or has left. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#behind += bytes.length;
    try {
      await this.#writer.write(bytes);
      this.#behind -= bytes.length;
    } catch {
      this.#leave();
    }
  }

  /** Sends what is queued and ends the stream. */
  close(): void {
    if (this.#closed) return;
    this.#leave();
    this.#writer.close().catch(() => undefined); // The client has left already.
  }

  /** Ends the stream with an error. */
  async abort(error: unknown): Promise<void> {
    this.#leave();
    await this.#writer.abort(error);
  }

  #leave(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#left();
  }
}
