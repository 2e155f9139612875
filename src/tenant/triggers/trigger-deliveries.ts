import type { TriggerDelivery } from "../../contract/team/trigger.ts";
import type { Database } from "../../sqlite/database.ts";

/** The time for which a delivery is kept, milliseconds. */
const KEPT_MS = 7 * 86_400_000;
/** The most that are kept of one trigger. */
const MOST_KEPT = 10_000;
/** Old ones that are removed with each new one. */
const REMOVED_AT_ONCE = 20;

type Row = { at: number; record: string };

/** The deliveries to the triggers. The same delivery is one row, however often it is sent. */
export class TriggerDeliveries {
  readonly #db: Database;
  readonly #counts = new Map<string, number>();

  constructor(db: Database) {
    this.#db = db;
    db.onForget(() => this.#counts.clear());
  }

  find(team: string, trigger: string, id: string, now: number): TriggerDelivery | undefined {
    const row = this.#db.first<Row>(
      "select at, record from inbound_delivery where team = ? and inbound = ? and id = ? and at > ?",
      team,
      trigger,
      id,
      now - KEPT_MS,
    );
    return row && deliveryOf(row);
  }

  /** Adds a delivery, or replaces the outcome of the one with its id. */
  put(team: string, trigger: string, delivery: Omit<TriggerDelivery, "at">, now: number): void {
    const earlier = this.find(team, trigger, delivery.id, now);
    if (earlier === undefined) this.#makeRoom(team, trigger, now);
    this.#db.write(
      `insert into inbound_delivery values (?, ?, ?, ?, ?)
         on conflict (team, inbound, id) do update set at = excluded.at, record = excluded.record`,
      team,
      trigger,
      delivery.id,
      earlier === undefined ? now : Date.parse(earlier.at),
      JSON.stringify(delivery),
    );
  }

  /** Those before a position, newest first. */
  page(
    team: string,
    trigger: string,
    before: { at: number; id: string },
    { limit, now }: { limit: number; now: number },
  ): TriggerDelivery[] {
    return this.#db
      .all<Row>(
        `select at, record from inbound_delivery
           where team = ? and inbound = ? and (at, id) < (?, ?) and at > ? order by at desc, id desc limit ?`,
        team,
        trigger,
        before.at,
        before.id,
        now - KEPT_MS,
        limit,
      )
      .map(deliveryOf);
  }

  remove(team: string, trigger: string): void {
    this.#counts.delete(keyOf(team, trigger));
    this.#db.write("delete from inbound_delivery where team = ? and inbound = ?", team, trigger);
  }

  /** Removes some of the oldest, as far as they are too old or too many. */
  #makeRoom(team: string, trigger: string, now: number): void {
    const key = keyOf(team, trigger);
    const count = this.#counts.get(key) ?? this.#count(team, trigger);
    const old = this.#db
      .all<{ at: number; id: string }>(
        "select at, id from inbound_delivery where team = ? and inbound = ? order by at, id limit ?",
        team,
        trigger,
        REMOVED_AT_ONCE,
      )
      .filter(({ at }, index) => at <= now - KEPT_MS || count - index >= MOST_KEPT);
    for (const { id } of old) {
      const query = "delete from inbound_delivery where team = ? and inbound = ? and id = ?";
      this.#db.write(query, team, trigger, id);
    }
    this.#counts.set(key, count - old.length + 1);
  }

  #count(team: string, trigger: string): number {
    const query = "select count(*) as n from inbound_delivery where team = ? and inbound = ?";
    return this.#db.first<{ n: number }>(query, team, trigger)?.n ?? 0;
  }
}

function keyOf(team: string, trigger: string): string {
  return `${team}/${trigger}`;
}

function deliveryOf({ at, record }: Row): TriggerDelivery {
  return { ...(JSON.parse(record) as Omit<TriggerDelivery, "at">), at: new Date(at).toISOString() };
}
