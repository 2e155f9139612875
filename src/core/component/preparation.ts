/** One preparation of component JSON: what its components want to know from one place is asked in one go. */
export class Preparation {
  readonly #batches = new Map<unknown, Promise<unknown[]>>();
  readonly #items = new Map<unknown, unknown[]>();

  /**
   * The answer about `item`. `ask` is called once for all who begin with this before their first await; it is known by its
   * identity, and returns answers in the order of the items.
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
