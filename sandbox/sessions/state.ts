import { type Manifest, NEW_SESSION } from "./manifest.ts";
import type { SessionStore } from "./store.ts";

const UNKNOWN_OUTCOME =
  "The sandbox was stopped while this code ran, so its outcome is not known. It was not run again.";

/** The current manifest of a session, and the number of users of its blobs. */
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

  /** A commit failed, so the disk may have another state: the session has to be loaded again. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Changes the current manifest and commits it. Commits happen one after the other. */
  update(change: (current: Manifest) => Manifest): Promise<void> {
    const committed = this.#commits.then(() => this.#commit(change));
    this.#commits = committed.catch(() => undefined);
    return committed;
  }

  /** Calls an action that uses blobs. Unnamed blobs are removed when no action is running. */
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

/** Gives an execution that had started when the service crashed a result that says so. */
function withoutBegun({ begun, ...manifest }: Manifest): Manifest {
  if (begun === undefined) return manifest;
  const unknown = {
    ...begun,
    result: { exit_code: 1, truncated: false, duration_ms: 0, files: [] },
    output: { text: `${UNKNOWN_OUTCOME}\n` },
  };
  return { ...manifest, results: [...manifest.results, unknown] };
}
