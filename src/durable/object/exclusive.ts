/** Runs one thing after the other. What goes wrong in one is its caller's business, not the next one's. */
export class Exclusive {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
