import type { OutboxChange, OutboxEntry } from "../../contract/directory.ts";
import type { Database } from "../storage/database.ts";

interface OutboxRow extends Record<string, string | number | null> {
  number: number;
  /** Null in the marker. */
  entry: string | null;
  place: number | null;
}

/** What the rows say. */
interface Contents {
  pending: OutboxEntry[];
  /** Of the last entry there ever was. */
  last: number;
  /** Where the tenant last put the team. */
  place: number | null;
}

/**
 * What the tenant has to be told, numbered from 1 without gaps, written in the transaction that changes what is listed.
 *
 * The last acknowledged entry stays as a marker without content: it keeps the numbers going, and the team's place. The next
 * entry takes the marker's row, so an entry and its acknowledgement are two written rows.
 */
export class OutboxStore {
  readonly #db: Database;
  #contents: Contents | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Whether the tenant was ever told of this team, or is about to be. */
  get begun(): boolean {
    return this.#read().last > 0;
  }

  get pending(): readonly OutboxEntry[] {
    return this.#read().pending;
  }

  /** Where the tenant last put the team. */
  get place(): number | null {
    return this.#read().place;
  }

  /** To be called inside the transaction that makes the change. */
  add(change: OutboxChange): void {
    const { pending, last, place } = this.#read();
    const entry: OutboxEntry = { ...change, number: last + 1 };
    const text = JSON.stringify(entry);
    const hasMarker = pending.length === 0 && last > 0;
    if (hasMarker) {
      const { number } = entry;
      this.#db.write(
        "update outbox set number = ?, entry = ? where number = ?",
        number,
        text,
        last,
      );
    } else {
      this.#db.write("insert into outbox values (?, ?, ?)", entry.number, text, place);
    }
    this.#contents = { pending: [...pending, entry], last: entry.number, place };
  }

  /** The tenant has applied everything up to this entry. */
  acknowledge(number: number, place: number): void {
    const { pending, last } = this.#read();
    const rest = pending.filter((entry) => entry.number > number);
    if (rest.length === pending.length) return;
    this.#db.transaction(() => {
      if (rest.length === 0) {
        this.#db.write("delete from outbox where number < ?", last);
        this.#db.write("update outbox set entry = null, place = ?", place);
      } else {
        this.#db.write("delete from outbox where number <= ?", number);
        this.#db.write("update outbox set place = ?", place);
      }
    });
    this.#contents = { pending: rest, last, place };
  }

  /** After a transaction that failed. */
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
