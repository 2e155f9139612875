import type { OutboxEntry } from "../../contract/directory.ts";
import type { DirectoryInbox } from "../../contract/tenant-gateway.ts";
import type { OutboxStore } from "./outbox-store.ts";

/** Entries sent at a time. */
const MOST_AT_ONCE = 100;
/** A tenant that does not answer in this time is asked again by the alarm. */
const PATIENCE_MS = 10_000;
/** How long the alarm waits before it tries again what could not be delivered. */
export const RETRY_DELIVERY_MS = 5_000;

/** Delivers what the tenant has to be told, in order, one request at a time. Never waited for by a run. */
export class Outbox {
  readonly #store: OutboxStore;
  readonly #team: () => string;
  readonly #tenant: DirectoryInbox;
  #delivering: Promise<boolean> | undefined;

  constructor(store: OutboxStore, team: () => string, tenant: DirectoryInbox) {
    this.#store = store;
    this.#team = team;
    this.#tenant = tenant;
  }

  /** Whether something is left to deliver. */
  get waiting(): boolean {
    return this.#store.pending.length > 0;
  }

  /** Delivers everything there is. Resolves to whether that worked; never rejects. */
  deliver(): Promise<boolean> {
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = undefined;
    });
    return this.#delivering;
  }

  async #deliverAll(): Promise<boolean> {
    try {
      for (let entries = this.#next(); entries.length > 0; entries = this.#next()) {
        const delivery = { team: this.#team(), place: this.#store.place, entries };
        const { number, place } = await within(PATIENCE_MS, this.#tenant.deliver(delivery));
        this.#store.acknowledge(number, place);
      }
      return true;
    } catch {
      return false;
    }
  }

  #next(): readonly OutboxEntry[] {
    return this.#store.pending.slice(0, MOST_AT_ONCE);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the tenant did not answer in time")), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
