/** After this time, half of a session's usage no longer counts. */
const HALF_LIFE_MS = 60_000;

/** Less is forgotten. */
const LEAST_MS = 10;

/** How long the code of each session has run lately: an average that decays. */
export class RecentUsage {
  readonly #usage = new Map<string, { ms: number; at: number }>();
  #pruneAt = 1000;

  /** Milliseconds. */
  of(session: string, now = performance.now()): number {
    const usage = this.#usage.get(session);
    return usage === undefined ? 0 : usage.ms * 0.5 ** ((now - usage.at) / HALF_LIFE_MS);
  }

  add(session: string, ms: number): void {
    const now = performance.now();
    this.#usage.set(session, { ms: this.of(session, now) + ms, at: now });
    if (this.#usage.size < this.#pruneAt) return;
    for (const name of this.#usage.keys())
      if (this.of(name, now) < LEAST_MS) this.#usage.delete(name);
    // Doubled, so that pruning costs little for each session that was added.
    this.#pruneAt = Math.max(1000, 2 * this.#usage.size);
  }
}
