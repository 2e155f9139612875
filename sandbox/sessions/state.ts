import { type Manifest, NEW_SESSION } from "./manifest.ts";
import type { SessionStore } from "./store.ts";

const UNKNOWN_OUTCOME =
  "The sandbox was stopped while this code ran, so its outcome is not known. It was not run again.";

/** The current manifest of a session, and who works with the blobs it names. */
export class SessionState {
  readonly store: SessionStore;
  #current: Manifest;
  #commits: Promise<unknown> = Promise.resolve();
  #users = 0;
  #broken = false;

  private constructor(store: SessionStore, current: Manifest) {
    this.store = store;
    this.#current = current;
  }

  static async load(store: SessionStore): Promise<SessionState> {
    return new SessionState(store, withoutBegun((await store.load()) ?? NEW_SESSION));
  }

  get current(): Manifest {
    return this.#current;
  }

  /** A commit failed, so that what is on the disk may be another state: it has to be loaded again. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Commits what `change` makes of the current manifest, one after the other. */
  update(change: (current: Manifest) => Manifest): Promise<void> {
    const committed = this.#commits.then(() => this.#commit(change));
    this.#commits = committed.catch(() => undefined);
    return committed;
  }

  /** Does something with blobs. Those that nothing names any more are removed when nobody does. */
  async using<T>(action: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await action();
    } finally {
      this.#users--;
      if (this.#users === 0 && !this.#broken) await this.store.sweep(this.#current);
    }
  }

  async #commit(change: (current: Manifest) => Manifest): Promise<void> {
    if (this.#broken) throw new Error("The session has to be loaded again.");
    const next = change(this.#current);
    try {
      await this.store.commit(next);
    } catch (error) {
      this.#broken = true;
      throw error;
    }
    this.#current = next;
  }
}

/** What had begun has no result when the service died: that is its result. */
function withoutBegun({ begun, ...manifest }: Manifest): Manifest {
  if (begun === undefined) return manifest;
  const unknown = {
    ...begun,
    result: { exit_code: 1, truncated: false, duration_ms: 0 },
    output: { text: `${UNKNOWN_OUTCOME}\n` },
  };
  return { ...manifest, results: [...manifest.results, unknown] };
}
