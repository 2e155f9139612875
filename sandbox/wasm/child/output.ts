import { CHUNK_BYTES } from "../frames.ts";

/** Between two pieces, and how long what ends in the middle of a line may wait for the rest of it, in milliseconds. */
const PATIENCE_MS = 20;
const NEWLINE = 10;

/** Gathers what a block prints, and hands it on in pieces that are worth a frame. */
export class Output {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #pending = new Uint8Array(CHUNK_BYTES);
  #length = 0;
  #sent = 0;
  /** When the first of what is pending was printed. */
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
    // Python writes a line and its end one after the other.
    if (bytes.at(-1) === NEWLINE && performance.now() - this.#sent >= PATIENCE_MS) this.flush();
  }

  /** Hands on what has waited for long enough. */
  tick(): void {
    if (this.#length > 0 && performance.now() - this.#since >= PATIENCE_MS) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#send(this.#pending.subarray(0, this.#length));
    this.#length = 0;
    this.#sent = performance.now();
  }
}
