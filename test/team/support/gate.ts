/** Where a worker stops in the middle of its turn until a test lets it continue. */
export class Gate {
  #open: ((given: { text: string; fails: boolean }) => void) | undefined;

  /** Whether a worker stands before it. */
  get held(): boolean {
    return this.#open !== undefined;
  }

  /**
   * The worker's step. The promise is made where the worker is: one of the test's, or a timer, would keep its object
   * from being unloaded.
   */
  async pass(signal: AbortSignal): Promise<string> {
    const { text, fails } = await new Promise<{ text: string; fails: boolean }>((resolve) => {
      this.#open = resolve;
      signal.addEventListener("abort", () => {
        if (this.#open === resolve) this.#open = undefined;
      });
    });
    if (fails) throw new TypeError(text);
    return text;
  }

  release(text: string, fails: boolean): void {
    this.#open?.({ text, fails });
    this.#open = undefined;
  }

  /** Who stood before it is gone with its object. */
  lost(): void {
    this.#open = undefined;
  }
}
