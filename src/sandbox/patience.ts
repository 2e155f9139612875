/** Waits for one thing after the other, for none of them longer than a while, and for nothing once the caller has left. */
export class Patience {
  /** Aborts with the caller's signal, and when something took too long. */
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #limitMs: number;

  constructor(limitMs: number, signal: AbortSignal) {
    this.#limitMs = limitMs;
    this.signal = AbortSignal.any([signal, this.#late.signal]);
  }

  /** Whether something took too long. */
  get over(): boolean {
    return this.#late.signal.aborted;
  }

  /** `promise` has to end with the signal. Between two of them time does not count: whoever reads along may be slow. */
  async await<T>(promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#late.abort(), this.#limitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
