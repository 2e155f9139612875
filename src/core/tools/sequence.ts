import { isTurnSignal, type TurnSignal } from "../run/signals.ts";

/**
 * Lets calls in one after the other, in the order they came. When one is ended by a signal, those that wait behind
 * it end with the same signal: what they share is in the middle of something, and the turn will run again.
 */
class Sequence {
  #tail: Promise<void> = Promise.resolve();
  #inside = 0;

  async *run<Item, Result>(
    call: () => AsyncGenerator<Item, Result, void>,
  ): AsyncGenerator<Item, Result, void> {
    const before = this.#inside === 0 ? undefined : this.#tail;
    let settle: { resolve(): void; reject(signal: TurnSignal): void } | undefined;
    this.#tail = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    // Nobody may be waiting behind.
    this.#tail.catch(() => {});
    this.#inside++;
    try {
      if (before !== undefined) await before;
      return yield* call();
    } catch (error) {
      if (isTurnSignal(error)) settle?.reject(error);
      throw error;
    } finally {
      this.#inside--;
      settle?.resolve();
    }
  }
}

const SEQUENCES = new WeakMap<object, Sequence>();

/** The sequence of all calls to one tool, wherever it is used. */
export function sequenceOf(tool: object): Sequence {
  let sequence = SEQUENCES.get(tool);
  if (sequence === undefined) {
    sequence = new Sequence();
    SEQUENCES.set(tool, sequence);
  }
  return sequence;
}
