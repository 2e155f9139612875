import type { Database } from "../../sqlite/database.ts";
import { addDays, type DayUsage, earliest } from "./day-usage.ts";
import type { UsageStore } from "./usage-store.ts";

/** After every day. */
export const LAST_DAY = "9999-12-31";
const DAY_MS = 86_400_000;

export interface DayTotalsOptions {
  db: Database;
  usage: UsageStore;
  /** The last days of teams that ended a run since then (epoch milliseconds): they are not in `usage` yet. */
  lastDays: (from: number) => Iterable<{ usage: DayUsage }>;
}

/**
 * The usage of all teams by day. A day is added up from the rows of its teams when it is first asked for, and counted in memory
 * from then on. The first run that ends on a later day closes it: a closed day has a row of its own.
 */
export class DayTotals {
  readonly #options: DayTotalsOptions;
  /** The last day with a row; empty for none, undefined before it is read. */
  #lastClosed: string | undefined;
  /** The days after it; undefined before they are asked for. */
  #open: Map<string, DayUsage> | undefined;

  constructor(options: DayTotalsOptions) {
    this.#options = options;
  }

  /** The days with usage, oldest first. @param to included */
  between(from: string, to: string): DayUsage[] {
    const closed = this.#options.db
      .all<{ day: string; record: string }>(
        "select day, record from day_usage where day >= ? and day <= ? order by day",
        from,
        to,
      )
      .map(({ day, record }) => readDay(day, record));
    const open = [...this.#openDays().values()]
      .filter(({ day }) => day >= from && day <= to)
      .toSorted((one, other) => (one.day < other.day ? -1 : 1));
    return [...closed, ...open];
  }

  /** When the first of the runs was created that ended on these days, epoch milliseconds; null without any. */
  firstCreated(from: string, to: string): number | null {
    return this.between(from, to).reduce<number | null>(
      (first, day) => earliest(first, day.first),
      null,
    );
  }

  /** Counts a run; call it in the transaction that stores its usage, before that is written. */
  add(used: DayUsage): void {
    const { day } = used;
    if (day <= this.#closedUntil()) {
      this.#write(addTo(this.#closed(day), used));
      return;
    }
    if (this.#open === undefined) return;
    this.#open.set(day, addTo(this.#open.get(day), used));
    for (const past of [...this.#open.values()].filter((other) => other.day < day)) {
      this.#write(past);
      this.#open.delete(past.day);
      if (past.day > this.#closedUntil()) this.#lastClosed = past.day;
    }
  }

  #openDays(): Map<string, DayUsage> {
    if (this.#open !== undefined) return this.#open;
    const { usage, lastDays } = this.#options;
    const closed = this.#closedUntil();
    const from = closed === "" ? 0 : Date.parse(closed) + DAY_MS;
    const days = new Map<string, DayUsage>();
    const first = new Date(from).toISOString().slice(0, 10);
    for (const { usage: of } of [...usage.between(first, LAST_DAY), ...lastDays(from)]) {
      if (of.day > closed) days.set(of.day, addTo(days.get(of.day), of));
    }
    this.#open = days;
    return days;
  }

  #closedUntil(): string {
    this.#lastClosed ??=
      this.#options.db.first<{ day: string | null }>("select max(day) as day from day_usage")
        ?.day ?? "";
    return this.#lastClosed;
  }

  #closed(day: string): DayUsage | undefined {
    const query = "select record from day_usage where day = ?";
    const row = this.#options.db.first<{ record: string }>(query, day);
    return row && readDay(day, row.record);
  }

  #write({ day, ...usage }: DayUsage): void {
    const query = "insert or replace into day_usage values (?, ?)";
    this.#options.db.write(query, day, JSON.stringify(usage));
  }
}

function addTo(before: DayUsage | undefined, used: DayUsage): DayUsage {
  return before === undefined ? used : addDays(before, used);
}

function readDay(day: string, record: string): DayUsage {
  return { day, ...(JSON.parse(record) as Omit<DayUsage, "day">) };
}
