import type { OutboxChange, OutboxEntry } from "../../../contract/directory.ts";
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
