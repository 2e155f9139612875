import type { OutboxChange, OutboxEntry } from "../../contract/directory.ts";
import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import { within } from "../../core/wait.ts";
import type { OutboxStore } from "../storage/outbox/outbox-store.ts";

/** Entries sent per request. */
const MOST_AT_ONCE = 100;
/** A tenant that does not answer within this time is called again on the next alarm. */
const PATIENCE_MS = 10_000;
/**
 * The alarm calls an unreachable tenant again after this time. It is short enough that the directory is right 15 s
 * after a kill.
 */
const RETRY_MS = 14_000;
/** The start and the end of a short run are delivered together, and so are runs that follow each other closely. */
const GATHER_MS = 25;

/** The open streams of a team, which a delivery can report. */
export interface StreamReports {
  /** Undefined when the tenant's count is current. */
  readonly unreportedStreams: number | undefined;
  /** The tenant has received the count. */
  streamsReported(streams: number): void;
}

export interface OutboxOptions {
  store: OutboxStore;
  /** The team's id. */
  team: string;
  tenant: Pick<TenantOfTeam, "deliver">;
  /** The team's open streams, as reported to the tenant. */
  streams?: StreamReports;
  /** The bytes that the team stores; missing for a deleted one. */
  stored?: () => number;
  /** The tenant does not know the team: adds its entry again. */
  resync: () => void;
  /** The delivery has ended: everything was delivered, or it has failed. */
  deliveryEnded: () => void;
}

/** Delivers the outbox to the tenant, in order, one request at a time. Runs do not wait for it. */
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

  /** When the alarm has to deliver the remaining entries, epoch milliseconds; null if there are none. */
  get dueAt(): number | null {
    const [first] = this.#options.store.pending;
    if (first === undefined) return null;
    return Math.max(first.number / 1000, this.#failedAt) + RETRY_MS;
  }

  /** Schedules a delivery. @param change the new entry: an urgent one is delivered at once, unless the last delivery was just now */
  readonly deliverSoon = (change?: OutboxChange): void => {
    const urgent = change !== undefined && isUrgent(change);
    const ms = urgent && Date.now() - this.#deliveredAt >= GATHER_MS ? 0 : GATHER_MS;
    if (ms === 0) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.deliver();
    }, ms);
  };

  /** Delivers all entries. Resolves to whether that succeeded; never rejects. */
  deliver(): Promise<boolean> {
    if (this.#delivering === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#deliveredAt = Date.now();
      this.#delivering = this.#deliverAll().finally(() => {
        this.#delivering = undefined;
        if (!this.#closed) this.#options.deliveryEnded();
      });
    }
    return this.#delivering;
  }

  /** Stops without another delivery: another instance delivers the remaining entries. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #deliverAll(): Promise<boolean> {
    const { store, team, tenant, resync, streams: reports, stored } = this.#options;
    try {
      for (let entries = this.#next(); entries.length > 0; entries = this.#next()) {
        const streams = reports?.unreportedStreams;
        const delivery = {
          team,
          place: store.place,
          entries,
          ...(stored && { stored: stored() }),
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

/**
 * True if clients look for the entry in the lists: a run that waits or has ended, or a question. Other entries show
 * that a run is in progress.
 */
function isUrgent(change: OutboxChange): boolean {
  if (change.kind !== "run") return change.kind !== "message";
  return change.run.status !== "running" && change.run.status !== "queued";
}
