import { isTurnSignal, type TurnSignal } from "../run/signals.ts";

/**
 * Lets calls in one after the other, in the order they came. When one is ended by a signal, those of the same run
 * that come after it end with the same signal: what they share is in the middle of something. A turn that runs again
 * has new objects.
 */
class Sequence {
  #tail: Promise<void> = Promise.resolve();
  #inside = 0;
  #ended: { run: AbortSignal; signal: TurnSignal } | undefined;

  /** @param run the signal of the run that calls, by which runs are told apart */
  async *run<Item, Result>(
    call: () => AsyncGenerator<Item, Result, void>,
    run: AbortSignal,
  ): AsyncGenerator<Item, Result, void> {
    const before = this.#inside === 0 ? undefined : this.#tail;
    let settle = (): void => {};
    this.#tail = new Promise<void>((resolve) => {
      settle = resolve;
    });
    this.#inside++;
    try {
      if (before !== undefined) await before;
      if (this.#ended?.run === run) throw this.#ended.signal;
      return yield* call();
    } catch (error) {
      if (isTurnSignal(error)) this.#ended = { run, signal: error };
      throw error;
    } finally {
      this.#inside--;
      settle();
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

/** Calls to `other` stand in line with those to `tool`. */
export function shareSequence(tool: object, other: object): void {
  SEQUENCES.set(other, sequenceOf(tool));
}
