import { CHUNK_BYTES } from "../frames.ts";

/** How long something printed may wait for more, in milliseconds. */
const PATIENCE_MS = 20;

/** Gathers what a block prints, and hands it on in pieces that are worth a frame. */
export class Output {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #pending = new Uint8Array(CHUNK_BYTES);
  #length = 0;
  #sent = 0;

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send;
  }

  /** Copies the bytes. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + CHUNK_BYTES - this.#length);
      this.#pending.set(piece, this.#length);
      this.#length += piece.length;
      at += piece.length;
      if (this.#length === CHUNK_BYTES) this.flush();
    }
    this.tick();
  }

  /** Hands on what has waited for long enough. */
  tick(): void {
    if (this.#length > 0 && performance.now() - this.#sent >= PATIENCE_MS) this.flush();
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#send(this.#pending.subarray(0, this.#length));
    this.#length = 0;
    this.#sent = performance.now();
  }
}
