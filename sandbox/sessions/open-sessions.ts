import type { Session } from "./session.ts";

/** A session in memory, with the number of its current users. */
interface Entry {
  loading: Promise<Session>;
  /** Set once it is loaded. */
  session?: Session;
  users: number;
  usedAt: number;
  /** Called when the last user leaves. */
  left?: () => void;
}

interface OpenSessionsOptions {
  warmMs: number;
  /** Interpreters of idle sessions that are kept. */
  maxWarm: number;
}

/** The sessions in memory: those in use, and for a while idle ones. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Sessions that are being removed. `use` waits for the removal and gets a new session. */
  readonly #removals = new Map<string, Promise<void>>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
  }

  /** Calls `action` with a session, which stays in memory meanwhile. */
  async use<T>(
    name: string,
    load: () => Promise<Session>,
    action: (session: Session) => Promise<T>,
  ): Promise<T> {
    const entry = await this.#enter(name, load);
    try {
      entry.session = await entry.loading;
      return await action(entry.session);
    } finally {
      await this.#leave(name, entry);
    }
  }

  /** Cancels the executions of a session, waits until it is idle, then calls `destroy` to remove it from the disk. */
  remove(name: string, destroy: () => Promise<void>): Promise<void> {
    const removal =
      this.#removals.get(name) ??
      this.#remove(name, destroy).finally(() => this.#removals.delete(name));
    this.#removals.set(name, removal);
    return removal;
  }

  uses(name: string): boolean {
    return (this.#entries.get(name)?.users ?? 0) > 0;
  }

  /** Closes sessions that have been idle for long enough. */
  async unload(now: number): Promise<void> {
    const old = this.#idle().filter(([, { usedAt }]) => now - usedAt >= this.#options.warmMs);
    await Promise.all(old.map(([name, entry]) => this.#close(name, entry)));
  }

  /** Cancels all executions and closes all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#entries].map(([name, entry]) => this.#close(name, entry)));
  }

  async #enter(name: string, load: () => Promise<Session>): Promise<Entry> {
    for (let gone = this.#removals.get(name); gone; gone = this.#removals.get(name)) await gone;
    const entry = this.#entries.get(name) ?? this.#open(name, load);
    entry.users++;
    return entry;
  }

  #open(name: string, load: () => Promise<Session>): Entry {
    const entry: Entry = { loading: this.#load(name, load), users: 0, usedAt: 0 };
    this.#entries.set(name, entry);
    return entry;
  }

  async #load(name: string, load: () => Promise<Session>): Promise<Session> {
    try {
      return await load();
    } catch (error) {
      this.#entries.delete(name);
      throw error;
    }
  }

  async #leave(name: string, entry: Entry): Promise<void> {
    entry.users--;
    entry.usedAt = Date.now();
    if (entry.users > 0) return;
    entry.left?.();
    if (entry.session?.state.broken === true) await this.#close(name, entry);
    const warm = this.#idle().filter(([, { session }]) => session?.warm === true);
    const tooMany = warm.slice(0, Math.max(0, warm.length - this.#options.maxWarm));
    await Promise.all(tooMany.map(([oldest, one]) => this.#close(oldest, one)));
  }

  /** Idle sessions, the least recently used first. */
  #idle(): [string, Entry][] {
    return [...this.#entries]
      .filter(([name, { users }]) => users === 0 && !this.#removals.has(name))
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
  }

  async #close(name: string, entry: Entry): Promise<void> {
    this.#entries.delete(name);
    await entry.session?.close();
  }

  async #remove(name: string, destroy: () => Promise<void>): Promise<void> {
    const entry = this.#entries.get(name);
    if (entry !== undefined) {
      const session = await entry.loading.catch(() => undefined);
      await session?.close();
      if (entry.users > 0) await new Promise<void>((left) => (entry.left = left));
      this.#entries.delete(name);
    }
    await destroy();
  }
}
