/** Draws that are the same in each run (the generator mulberry32). */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Between 0 and 1, all equally likely. */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 1 with this probability, else 0. */
  pass(probability: number): number {
    return this.uniform() < probability ? 1 : 0;
  }

  /** 1 with the probability 0.8, else uniform: the mean is 0.9. */
  mostlyFull(): number {
    return this.pass(0.8) === 1 ? 1 : this.uniform();
  }
}
