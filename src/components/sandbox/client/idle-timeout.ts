/** Limits how long each of several waits may take. */
export class IdleTimeout {
  /** Aborted with the caller's signal, and when a wait takes too long. */
  readonly signal: AbortSignal;
  readonly #timeout = new AbortController();
  readonly #limitMs: number;

  constructor(limitMs: number, signal: AbortSignal) {
    this.#limitMs = limitMs;
    this.signal = AbortSignal.any([signal, this.#timeout.signal]);
  }

  /** True if a wait took too long. */
  get expired(): boolean {
    return this.#timeout.signal.aborted;
  }

  /**
   * Waits for a promise that rejects when the signal aborts. Time between waits does not count, because a reader may be
   * slow.
   */
  async wait<T>(promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#timeout.abort(), this.#limitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
