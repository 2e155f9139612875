import { CHUNK_BYTES } from "../frames.ts";

/** The least time between two frames, and the longest that an incomplete line waits, in milliseconds. */
const DELAY_MS = 20;
const NEWLINE = 10;

/** Collects the output of a block into frames. */
export class Output {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #pending = new Uint8Array(CHUNK_BYTES);
  #length = 0;
  #sent = 0;
  /** When the first pending byte was printed. */
  #since = 0;

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send;
  }

  /** Copies the bytes. */
  write(bytes: Uint8Array): void {
    if (this.#length === 0) this.#since = performance.now();
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + CHUNK_BYTES - this.#length);
      this.#pending.set(piece, this.#length);
      this.#length += piece.length;
      at += piece.length;
      if (this.#length === CHUNK_BYTES) this.flush();
    }
    // Python writes a line and its newline separately.
    if (bytes.at(-1) === NEWLINE && performance.now() - this.#sent >= DELAY_MS) this.flush();
  }

  /** Sends output that has waited for long enough. */
  tick(): void {
    if (this.#length > 0 && performance.now() - this.#since >= DELAY_MS) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#send(this.#pending.subarray(0, this.#length));
    this.#length = 0;
    this.#sent = performance.now();
  }
}
