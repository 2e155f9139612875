/** Work that an object does in the background. Returns milliseconds until it is to be continued; undefined when it is done. */
export type Chore = () => Promise<number | undefined>;

/** The alarm is set again before work begins, so that a killed object continues. */
const RESUME_MS = 5_000;

/** The chores of an object, which share its alarm. An object that was just loaded does not know which are due, and looks at all. */
export class Chores {
  readonly #storage: DurableObjectStorage;
  readonly #chores: Readonly<Record<string, Chore>>;
  /** When chores are due, epoch milliseconds. */
  #due: Map<string, number> | undefined;
  readonly #running = new Set<string>();
  /** Chores that were woken while they ran. */
  readonly #woken = new Set<string>();

  constructor(storage: DurableObjectStorage, chores: Readonly<Record<string, Chore>>) {
    this.#storage = storage;
    this.#chores = chores;
  }

  /** @param early even if it waits before another attempt, or is about to */
  wake(chore: string, { early }: { early: boolean }): void {
    if (!early && this.#running.has(chore)) {
      this.#woken.add(chore);
      return;
    }
    if (!early && this.#due?.has(chore)) return;
    this.#due?.set(chore, Date.now());
    void this.#storage.setAlarm(Date.now());
  }

  async alarm(): Promise<void> {
    await this.#storage.setAlarm(Date.now() + RESUME_MS);
    const all = Object.keys(this.#chores);
    const due = this.#due;
    // An alarm may come a little early: what it was set for is ready.
    const until = Math.max(Date.now(), Math.min(...(due?.values() ?? [])));
    const ready =
      due === undefined ? all : all.filter((name) => (due.get(name) ?? Infinity) <= until);
    const left = due ?? new Map<string, number>();
    this.#due = left;
    try {
      await Promise.all(
        ready.map(async (name) => {
          left.delete(name);
          const delay = await this.#run(name);
          if (delay !== undefined && !left.has(name)) left.set(name, Date.now() + delay);
        }),
      );
    } catch (error) {
      // The runtime calls the alarm again.
      this.#due = undefined;
      throw error;
    }
    if (left.size === 0) await this.#storage.deleteAlarm();
    else await this.#storage.setAlarm(Math.min(...left.values()));
  }

  async #run(name: string): Promise<number | undefined> {
    this.#woken.delete(name);
    this.#running.add(name);
    try {
      const delay = await this.#chores[name]?.();
      // It may have been woken after it looked for what is to be done.
      return delay ?? (this.#woken.has(name) ? 0 : undefined);
    } finally {
      this.#running.delete(name);
    }
  }
}
