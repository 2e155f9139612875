import type { MemoryOfTeam } from "../../contract/gateways/memory-gateway.ts";
import { within } from "../../core/wait.ts";
import type { MemoryOutbox, MemoryTarget } from "../storage/outbox/memory-outbox.ts";

/** Entries sent per request. */
const MOST_AT_ONCE = 20;
/** An object that does not answer within this time is called again on the next alarm. */
const PATIENCE_MS = 10_000;
/** The alarm delivers entries that are this old, and calls an unreachable object again after this time. */
const RETRY_MS = 14_000;

export interface MemoryDeliveryOptions {
  outbox: MemoryOutbox;
  /** Differs for every team that was ever created. */
  creation: string;
  find: (target: MemoryTarget) => MemoryOfTeam;
  /** A delivery has ended: everything was delivered, or it has failed. */
  deliveryEnded: () => void;
}

/** Delivers changes of memories to the objects of users and of the tenant: each object gets its own in their order. */
export class MemoryDelivery {
  readonly #options: MemoryDeliveryOptions;
  /** Deliveries under way, by target. */
  readonly #delivering = new Map<string, Promise<void>>();
  #failedAt = 0;
  #closed = false;

  constructor(options: MemoryDeliveryOptions) {
    this.#options = options;
  }

  /** When the alarm has to deliver the remaining entries, epoch milliseconds; null if there are none. */
  get dueAt(): number | null {
    const [first] = this.#options.outbox.pending;
    if (first === undefined) return null;
    return Math.max(first.number / 1000, this.#failedAt) + RETRY_MS;
  }

  /** Delivers everything. Never rejects; what could not be delivered is left to the alarm. */
  async deliver(): Promise<void> {
    const targets = new Map(
      this.#options.outbox.pending.map(({ target }) => [JSON.stringify(target), target]),
    );
    const deliveries = Array.from(targets.values(), (target) => this.deliverTo(target));
    await Promise.allSettled(deliveries);
    if (!this.#closed) this.#options.deliveryEnded();
  }

  /** Delivers what is for one object, so that it can be read. @throws when the object cannot be reached */
  async deliverTo(target: MemoryTarget): Promise<void> {
    const name = JSON.stringify(target);
    // One request at a time. What was added meanwhile is not part of the delivery under way.
    for (let under = this.#delivering.get(name); under; under = this.#delivering.get(name)) {
      await under;
    }
    const delivery = this.#deliver(target, name).finally(() => this.#delivering.delete(name));
    this.#delivering.set(name, delivery);
    await delivery;
  }

  /** Stops without another delivery: another instance delivers the remaining entries. */
  close(): void {
    this.#closed = true;
  }

  async #deliver(target: MemoryTarget, name: string): Promise<void> {
    const { outbox, creation, find } = this.#options;
    const next = (): typeof outbox.pending =>
      outbox.pending
        .filter((pending) => JSON.stringify(pending.target) === name)
        .slice(0, MOST_AT_ONCE);
    try {
      for (let pending = next(); pending.length > 0 && !this.#closed; pending = next()) {
        const entries = pending.map((entry) => entry.read());
        const delivered = find(target).deliverMemories({ creation, entries });
        const { number } = await within(PATIENCE_MS, delivered);
        if (!this.#closed) outbox.acknowledge(target, number);
      }
    } catch (error) {
      this.#failedAt = Date.now();
      throw error;
    }
  }
}
