import type { Database } from "../../sqlite/database.ts";
import { MICROSECONDS } from "./delivery-store.ts";

const DAY = 86_400_000;

/** The time for which finished deliveries are kept (milliseconds), and the number of each webhook. */
const KEPT = {
  delivered: { age: 7 * DAY, count: 1_000 },
  failed: { age: 30 * DAY, count: 10_000 },
} as const;

const STATUSES = ["delivered", "failed"] as const;

type Status = (typeof STATUSES)[number];

/** Milliseconds between two removals by age. */
const INTERVAL_MS = 3_600_000;

/** Rows removed per batch, and by how many a webhook may exceed its count. */
const BATCH = 200;

/** Removes old finished deliveries in batches. */
export class Retention {
  readonly #db: Database;
  readonly #webhooks: () => readonly string[];
  readonly #counts = new Map<string, number>();
  /** When the next removal is due, epoch milliseconds. */
  #at: number | null;
  #notBefore = 0;

  /** @param webhooks ids of the webhooks that may have deliveries */
  constructor(db: Database, webhooks: () => readonly string[]) {
    this.#db = db;
    this.#webhooks = webhooks;
    this.#at = this.#firstExpiry();
  }

  get at(): number | null {
    return this.#at === null ? null : Math.max(this.#at, this.#notBefore);
  }

  /** Counts a finished delivery of the webhook. */
  ended(webhook: string, status: Status, now: number): void {
    const expiry = now + KEPT[status].age;
    this.#at = Math.min(this.#at ?? expiry, expiry);
    const name = `${status}/${webhook}`;
    const count = (this.#counts.get(name) ?? this.#count(webhook, status)) + 1;
    this.#counts.set(name, count);
    if (count <= KEPT[status].count + BATCH) return;
    this.#at = now;
    this.#notBefore = now;
  }

  /** Removes a batch of each webhook's old deliveries. */
  clean(now: number): void {
    if (this.at === null || this.at > now) return;
    let more = false;
    for (const webhook of this.#webhooks()) {
      for (const status of STATUSES) more = this.#remove(webhook, status, now) || more;
    }
    this.#counts.clear();
    this.#at = more ? now : this.#firstExpiry();
    this.#notBefore = more ? now : now + INTERVAL_MS;
  }

  /** Returns whether more rows have to be removed. */
  #remove(webhook: string, status: Status, now: number): boolean {
    const { age, count } = KEPT[status];
    const beyond = this.#db.first<{ seq: number }>(
      "select seq from webhook_delivery where status = ? and webhook = ? order by seq desc limit 1 offset ?",
      status,
      webhook,
      count,
    );
    const last = Math.max((now - age) * MICROSECONDS, beyond?.seq ?? 0);
    const batch = this.#db.all<{ seq: number }>(
      "select seq from webhook_delivery where status = ? and webhook = ? and seq <= ? order by seq limit ?",
      status,
      webhook,
      last,
      BATCH,
    );
    const end = batch.at(-1);
    if (end === undefined) return false;
    this.#db.write(
      "delete from webhook_delivery where status = ? and webhook = ? and seq <= ?",
      status,
      webhook,
      end.seq,
    );
    return batch.length === BATCH;
  }

  #count(webhook: string, status: Status): number {
    const counted = this.#db.first<{ n: number }>(
      "select count(*) as n from webhook_delivery where status = ? and webhook = ?",
      status,
      webhook,
    );
    return counted?.n ?? 0;
  }

  #firstExpiry(): number | null {
    const times = this.#webhooks().flatMap((webhook) =>
      STATUSES.flatMap((status) => {
        const row = this.#db.first<{ seq: number }>(
          "select seq from webhook_delivery where status = ? and webhook = ? order by seq limit 1",
          status,
          webhook,
        );
        return row === undefined ? [] : [row.seq / MICROSECONDS + KEPT[status].age];
      }),
    );
    return times.length === 0 ? null : Math.ceil(Math.min(...times));
  }
}
