/** Numbers in [0, 1) that a seed determines (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new TypeError("there is nothing to pick from");
    return item;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const all = [...items];
    for (let last = all.length - 1; last > 0; last--) {
      const other = this.integer(0, last);
      [all[last], all[other]] = [all[other] as T, all[last] as T];
    }
    return all;
  }
}
