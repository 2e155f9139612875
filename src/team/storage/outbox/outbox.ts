import type { OutboxChange, OutboxEntry } from "../../../contract/directory.ts";
import type { TenantOfTeam } from "../../../contract/gateways/tenant-gateway.ts";
import { within } from "../../../core/wait.ts";
import type { Database } from "../../../sqlite/database.ts";

interface OutboxRow extends Record<string, string | number | null> {
  number: number;
  /** Null in the marker row. */
  entry: string | null;
  place: number | null;
}

interface Contents {
  pending: OutboxEntry[];
  /** Number of the last entry ever written. */
  last: number;
  /** The team's last known place at the tenant. */
  place: number | null;
}

/**
 * Entries for the tenant, written in the transaction that changes what is listed. Their numbers are times in microseconds,
 * so they increase even when an earlier state of the storage is restored.
 *
 * The last acknowledged entry stays as a marker without content: it keeps the numbers increasing, and the team's place. The
 * next entry takes the marker's row, so an entry and its acknowledgement are two written rows.
 */
export class OutboxStore {
  readonly #db: Database;
  #contents: Contents | undefined;
  /** Called when there is something to deliver. */
  onEntry: (change: OutboxChange) => void = () => undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** True if this team was ever reported to the tenant, or is about to be. */
  get started(): boolean {
    return this.#read().last > 0;
  }

  get pending(): readonly OutboxEntry[] {
    return this.#read().pending;
  }

  get place(): number | null {
    return this.#read().place;
  }

  /** Must be called inside the transaction that makes the change. */
  add(change: OutboxChange): void {
    const { pending, last, place } = this.#read();
    const number = Math.max(last + 1, Date.now() * 1000);
    const entry: OutboxEntry = { ...change, number };
    const before = pending.at(-1);
    const superseded = before !== undefined && isSuperseded(before, change);
    if (superseded || (before === undefined && last > 0)) {
      const text = JSON.stringify(entry);
      this.#db.write(
        "update outbox set number = ?, entry = ? where number = ?",
        number,
        text,
        last,
      );
    } else {
      this.#db.write("insert into outbox values (?, ?, ?)", number, JSON.stringify(entry), place);
    }
    const others = superseded ? pending.slice(0, -1) : pending;
    this.#contents = { pending: [...others, entry], last: number, place };
    this.onEntry(change);
  }

  /** Removes the entries up to this one, which the tenant has applied. */
  acknowledge(number: number, place: number): void {
    const { pending, last } = this.#read();
    const rest = pending.filter((entry) => entry.number > number);
    this.#db.transaction(() => {
      if (rest.length === 0) {
        if (pending.length > 1) this.#db.write("delete from outbox where number < ?", last);
        this.#db.write("update outbox set entry = null, place = ? where number = ?", place, last);
      } else if (rest.length < pending.length) {
        this.#db.write("delete from outbox where number <= ?", number);
      }
    });
    this.#contents = { pending: rest, last, place };
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#contents = undefined;
  }

  #read(): Contents {
    if (this.#contents === undefined) {
      const rows = this.#db.all<OutboxRow>(
        "select number, entry, place from outbox order by number",
      );
      this.#contents = {
        pending: rows.flatMap(({ entry }) =>
          entry === null ? [] : [JSON.parse(entry) as OutboxEntry],
        ),
        last: rows.at(-1)?.number ?? 0,
        place: rows[0]?.place ?? null,
      };
    }
    return this.#contents;
  }
}

/** An undelivered start of a run needs no entry of its own once the run has ended. */
function isSuperseded(before: OutboxEntry, change: OutboxChange): boolean {
  return (
    before.kind === "run" &&
    change.kind === "run" &&
    before.run.id === change.run.id &&
    before.run.status === "running"
  );
}

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
    options.store.onEntry = (change) => this.deliverSoon(change);
  }

  /** When the alarm has to deliver the remaining entries, epoch milliseconds; null if there are none. */
  get dueAt(): number | null {
    const [first] = this.#options.store.pending;
    if (first === undefined) return null;
    return Math.max(first.number / 1000, this.#failedAt) + RETRY_MS;
  }

  /** Schedules a delivery. @param change the new entry: an urgent one is delivered at once, unless the last delivery was just now */
  deliverSoon(change?: OutboxChange): void {
    const urgent = change !== undefined && isUrgent(change);
    const ms = urgent && Date.now() - this.#deliveredAt >= GATHER_MS ? 0 : GATHER_MS;
    if (ms === 0) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.deliver();
    }, ms);
  }

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
