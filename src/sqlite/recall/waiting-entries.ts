import type { Database } from "../database.ts";
import { LazyTable } from "../lazy-table.ts";

/** The entries of people that may have to be embedded. */
export interface Waiting {
  /** Those from this row id on. */
  from: number;
  /** Attempts that have failed in a row, and when the first of them did, epoch milliseconds. */
  failures: number;
  failing_since: number;
  /** Why they wait for an agent that compares meanings: none has yet, or its embedding has failed for too long. */
  until_used: "unknown" | "failed" | null;
}

const NOTHING: Omit<Waiting, "from"> = { failures: 0, failing_since: 0, until_used: null };

/**
 * The entries that people have added or corrected and that have no vector yet: one row for all, stored in the transaction
 * of the change. Changes are made inside a transaction.
 */
export class WaitingEntries {
  readonly #db: Database;
  readonly #name: string;
  readonly #table: LazyTable;
  /** Undefined as long as it was not read. */
  #stored: { value: Waiting | undefined } | undefined;
  #additions = 0;
  #isClosed = false;

  constructor(db: Database, name: string) {
    this.#db = db;
    this.#name = `${name}_waiting`;
    this.#table = new LazyTable(db, this.#name, "(n integer primary key, record text not null)");
  }

  /** Undefined if nothing waits. */
  get record(): Waiting | undefined {
    if (this.#isClosed) return undefined;
    this.#stored ??= { value: this.#read() };
    return this.#stored.value;
  }

  /** True if work can be done now. */
  get isDue(): boolean {
    return this.record?.until_used === null;
  }

  /** Increases with every addition, also of an entry that waits already. */
  get additions(): number {
    return this.#additions;
  }

  /** @param seq an entry of a person that has no vector */
  add(seq: number): void {
    this.#additions++;
    const { record } = this;
    if (record !== undefined && record.from <= seq && record.until_used !== "failed") return;
    const until_used = record?.until_used === "unknown" ? "unknown" : null;
    this.save({ ...NOTHING, from: Math.min(seq, record?.from ?? seq), until_used });
  }

  /** An agent has compared meanings here. @param isNew it is the first with its embedding @returns whether there is work again */
  used(isNew: boolean): boolean {
    const { record } = this;
    if (record === undefined || (record.until_used === null && !isNew)) return false;
    this.save({ ...NOTHING, from: record.from });
    return true;
  }

  /** @param record undefined when nothing waits any more */
  save(record: Waiting | undefined): void {
    this.#table.create();
    if (record === undefined) this.#db.write(`delete from ${this.#name}`);
    else {
      this.#db.write(`insert or replace into ${this.#name} values (1, ?)`, JSON.stringify(record));
    }
    this.#stored = { value: record };
  }

  clear(): void {
    if (this.record !== undefined) this.save(undefined);
  }

  /** The database belongs to another owner from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** After a transaction that was rolled back, and after everything was erased. */
  forget(): void {
    this.#stored = undefined;
  }

  #read(): Waiting | undefined {
    if (!this.#table.exists) return undefined;
    const row = this.#db.first<{ record: string }>(`select record from ${this.#name}`);
    return row && (JSON.parse(row.record) as Waiting);
  }
}
