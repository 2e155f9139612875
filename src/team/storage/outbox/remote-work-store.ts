import type { RemoteWork } from "../../../core/steps/remote-work.ts";
import type { MetaKey, MetaStore } from "../tables/meta-store.ts";

/** Work at another service that has to be cancelled. */
export interface LeftWork {
  work: RemoteWork;
  /** The turn that began it, which knows the component with its agent. */
  turn: number;
  /** Epoch milliseconds. */
  since: number;
}

const LEFT: MetaKey<readonly LeftWork[]> = {
  name: "remote_work",
  read(value) {
    if (!Array.isArray(value)) throw new TypeError("what is stored as remote_work is not a list");
    return value as unknown as readonly LeftWork[];
  },
};

/**
 * Work that runs have left at other services, until these confirm that it is cancelled. One value, because most teams have none. It has no
 * secrets: the component has them.
 */
export class RemoteWorkStore {
  readonly #meta: MetaStore;
  #left: readonly LeftWork[] | undefined;
  #closed = false;
  /** Called when there is something to cancel. */
  onLeft: () => void = () => undefined;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  get pending(): readonly LeftWork[] {
    return (this.#left ??= this.#meta.read(LEFT) ?? []);
  }

  /**
   * Adds work, or replaces what was known of it. Must be called inside the transaction that ends the run or its turn.
   *
   * @param turn in which it was begun
   */
  leave(works: readonly RemoteWork[], turn: number): void {
    if (works.length === 0 || this.#closed) return;
    const since = Date.now();
    const news = works.filter((work) => {
      const before = this.pending.find((left) => left.work.id === work.id);
      return before === undefined || before.work.order < work.order;
    });
    if (news.length === 0) return;
    const others = this.pending.filter(({ work }) => news.every(({ id }) => id !== work.id));
    const left = news.filter(({ state }) => state !== "over");
    this.#write([...others, ...left.map((work) => ({ work, turn, since }))]);
    this.onLeft();
  }

  /** Nothing is left to do for this entry, which may have been replaced meanwhile. */
  remove(done: LeftWork): void {
    if (!this.#closed) this.#write(this.pending.filter((left) => left !== done));
  }

  /** The team is erased: effects that end later must not store anything. */
  close(): void {
    this.#closed = true;
  }

  /** Drops the copy in memory after a failed transaction. */
  forget(): void {
    this.#left = undefined;
  }

  #write(left: readonly LeftWork[]): void {
    if (left.length > 0) this.#meta.write(LEFT, left);
    else if (this.pending.length > 0) this.#meta.remove(LEFT);
    this.#left = left;
  }
}
