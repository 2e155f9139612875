/**
 * Calls back when no beat has come for a while. There is one timer, set again only when it fires: a timer per chunk
 * would cost more than the chunk.
 */
export class StallWatch {
  readonly #limitMs: number;
  readonly #onStall: () => void;
  #last = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stalled = false;

  constructor(limitMs: number, onStall: () => void) {
    this.#limitMs = limitMs;
    this.#onStall = onStall;
    this.#wait(limitMs);
  }

  get stalled(): boolean {
    return this.#stalled;
  }

  beat(): void {
    this.#last = Date.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const left = this.#last + this.#limitMs - Date.now();
      if (left > 0) this.#wait(left);
      else {
        this.#stalled = true;
        this.#onStall();
      }
    }, milliseconds);
  }
}
