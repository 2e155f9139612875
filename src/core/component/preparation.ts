/** One preparation of component JSON, which batches the requests of its components. */
export class Preparation {
  readonly #batches = new Map<unknown, Promise<unknown[]>>();
  readonly #items = new Map<unknown, unknown[]>();

  /**
   * The answer for `item`. All items that are added before the first await are passed to `ask` in one call, which returns
   * the answers in their order. Batches are distinguished by the identity of `ask`.
   */
  async together<I, O>(ask: (items: I[]) => Promise<O[]>, item: I): Promise<O> {
    const items = (this.#items.get(ask) ?? []) as I[];
    this.#items.set(ask, items);
    const index = items.push(item) - 1;
    const answers = this.#batches.get(ask) ?? Promise.resolve().then(() => ask(items));
    this.#batches.set(ask, answers);
    return ((await answers) as O[])[index] as O;
  }
}
