/**
 * Numbers for changes: they increase over the tenant's whole life, restarts included, without being stored. Microseconds
 * since 1970 as long as there are fewer than a thousand changes in a millisecond.
 */
export class ChangeClock {
  #last = 0;

  /** @param now epoch milliseconds */
  next(now: number): number {
    this.#last = Math.max(this.#last + 1, now * 1000);
    return this.#last;
  }
}
