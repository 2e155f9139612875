/**
 * Numbers for changes: they increase over the tenant's whole life, restarts included, without being stored. Microseconds
 * since 1970 as long as there are fewer than a thousand changes in a millisecond.
 */
export class ChangeClock {
  #last = 0;

  /** Continues after a stored number, because the clock of the machine may have been ahead. */
  startAfter(number: number): void {
    this.#last = Math.max(this.#last, number);
  }

  /** @param now epoch milliseconds */
  next(now: number): number {
    this.#last = Math.max(this.#last + 1, now * 1000);
    return this.#last;
  }
}
