import type { OutboxEntry } from "../../contract/directory.ts";
import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { within } from "../../core/within.ts";
import type { OutboxStore } from "./outbox-store.ts";

/** Entries sent at a time. */
const MOST_AT_ONCE = 100;
/** A tenant that does not answer in this time is called again by the alarm. */
const PATIENCE_MS = 10_000;
/** The alarm calls a tenant again that could not be reached. Short enough that the directory is right 15 s after a kill. */
const RETRY_MS = 14_000;
/** A short run's start and end are delivered together, and runs that follow each other. */
const GATHER_MS = 25;

/** The open streams of a team, which a delivery can report. */
export interface StreamReports {
  /** Undefined when the tenant counts as many. */
  readonly unreportedStreams: number | undefined;
  /** The tenant was told. */
  streamsReported(streams: number): void;
}

export interface OutboxOptions {
  store: OutboxStore;
  /** The team's id. */
  team: string;
  tenant: Pick<TenantOfTeam, "deliver">;
  /** What the tenant has to know of the team's open streams. */
  streams?: StreamReports;
  /** The tenant knows nothing of the team: adds the entry again. */
  resync: () => void;
  /** Everything was delivered, or the delivery has failed. */
  settled: () => void;
}

/** Delivers the outbox to the tenant, in order, one request at a time. No run waits for it. */
export class Outbox {
  readonly #options: OutboxOptions;
  #delivering: Promise<boolean> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #deliveredAt = 0;
  #failedAt = 0;
  #closed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** When the alarm is to deliver what is left, epoch milliseconds; null when nothing is left. */
  get dueAt(): number | null {
    const [first] = this.#options.store.pending;
    if (first === undefined) return null;
    return Math.max(first.number / 1000, this.#failedAt) + RETRY_MS;
  }

  /** Delivers in a moment. @param urgent at once, unless the last delivery was just now */
  deliverSoon(urgent = false): void {
    const ms = urgent && Date.now() - this.#deliveredAt >= GATHER_MS ? 0 : GATHER_MS;
    if (ms === 0) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.deliver();
    }, ms);
  }

  /** Delivers everything there is. Resolves to whether that worked; never rejects. */
  deliver(): Promise<boolean> {
    if (this.#delivering === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#deliveredAt = Date.now();
      this.#delivering = this.#deliverAll().finally(() => {
        this.#delivering = undefined;
        if (!this.#closed) this.#options.settled();
      });
    }
    return this.#delivering;
  }

  /** Ends without a further delivery: somebody else takes over what is left. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #deliverAll(): Promise<boolean> {
    const { store, team, tenant, resync, streams: reports } = this.#options;
    try {
      for (let entries = this.#next(); entries.length > 0; entries = this.#next()) {
        const streams = reports?.unreportedStreams;
        const delivery = {
          team,
          place: store.place,
          entries,
          ...(streams !== undefined && { streams }),
        };
        const acknowledged = await within(PATIENCE_MS, tenant.deliver(delivery));
        if (this.#closed) return false;
        if (streams !== undefined) reports?.streamsReported(streams);
        store.acknowledge(acknowledged.number, acknowledged.place);
        if (acknowledged.resync) resync();
      }
      return true;
    } catch {
      this.#failedAt = Date.now();
      return false;
    }
  }

  #next(): readonly OutboxEntry[] {
    return this.#options.store.pending.slice(0, MOST_AT_ONCE);
  }
}
