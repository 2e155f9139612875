import { isTurnSignal, type TurnSignal } from "../steps/signals.ts";

/**
 * Runs calls one after the other, in order of arrival. When a signal ends one, the later ones of the same run end with
 * that signal, because the tool's state is inconsistent until the turn is repeated with new objects.
 */
class Sequence {
  #tail: Promise<void> = Promise.resolve();
  #inside = 0;
  #ended: { run: AbortSignal; signal: TurnSignal } | undefined;

  /** @param run the abort signal of the calling run, as its identity */
  async *run<Item, Result>(
    call: () => AsyncGenerator<Item, Result, void>,
    run: AbortSignal,
  ): AsyncGenerator<Item, Result, void> {
    const before = this.#inside === 0 ? undefined : this.#tail;
    let finish = (): void => {};
    this.#tail = new Promise<void>((resolve) => {
      finish = resolve;
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
      finish();
    }
  }
}

const SEQUENCES = new WeakMap<object, Sequence>();

/** The sequence of all calls to one tool, in all agents that have it. */
export function sequenceOf(tool: object): Sequence {
  let sequence = SEQUENCES.get(tool);
  if (sequence === undefined) {
    sequence = new Sequence();
    SEQUENCES.set(tool, sequence);
  }
  return sequence;
}

/** Puts calls to `other` in the same sequence as those to `tool`. */
export function shareSequence(tool: object, other: object): void {
  SEQUENCES.set(other, sequenceOf(tool));
}
