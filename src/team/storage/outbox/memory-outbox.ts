import type { MemoryOutboxEntry, MemoryTurn } from "../../../contract/gateways/memory-gateway.ts";
import type { Database, SqlValue } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";

/** The owner of the memories that changes are for: the tenant, or one of its users. */
export type MemoryTarget = { scope: "tenant" } | { scope: "user"; user: string };

/** Changes of a turn that their object has not confirmed. */
export interface PendingMemory {
  target: MemoryTarget;
  number: number;
  read(): MemoryOutboxEntry;
}

interface OutboxRow extends Record<string, SqlValue> {
  number: number;
  target: string;
  confirmed: number | null;
}

interface Contents {
  pending: Pick<OutboxRow, "number" | "target">[];
  last: number;
}

/** The stored text of an entry that was confirmed: the last one stays, because numbers must increase. */
const CONFIRMED = "";

/**
 * Changes of memories in other objects, written in the transaction of their turn. Numbers begin with the time, so that they
 * increase even after everything was erased.
 */
export class MemoryOutbox {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;
  #contents: Contents | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    const columns = "number integer primary key, target text not null, entry text";
    this.#table = new LazyTable(db, "memory_outbox", `(${columns})`);
  }

  /** In their order. */
  get pending(): PendingMemory[] {
    return this.#read().pending.map(({ number, target }) => ({
      target: JSON.parse(target) as MemoryTarget,
      number,
      read: () => this.#entry(number),
    }));
  }

  /** Must be called inside the transaction that commits the turn. */
  add(to: MemoryTarget, turn: MemoryTurn): void {
    const { pending, last } = this.#read();
    const number = Math.max(last + 1, Date.now() * 1000);
    const target = JSON.stringify(to);
    this.#table.create();
    const entry = this.#texts.storeRemovable(owner(number), JSON.stringify(turn));
    if (pending.length === 0 && last > 0) {
      this.#db.write(
        "update memory_outbox set number = ?, target = ?, entry = ? where number = ?",
        number,
        target,
        entry,
        last,
      );
    } else {
      this.#db.write("insert into memory_outbox values (?, ?, ?)", number, target, entry);
    }
    this.#contents = { pending: [...pending, { number, target }], last: number };
  }

  /** Removes the entries for an object up to this one, which it has applied. */
  acknowledge(to: MemoryTarget, upTo: number): void {
    const { pending, last } = this.#read();
    const target = JSON.stringify(to);
    const applied = pending.filter((row) => row.target === target && row.number <= upTo);
    if (applied.length === 0) return;
    const rest = pending.filter((row) => !applied.includes(row));
    this.#db.transaction(() => {
      for (const { number } of applied) {
        this.#texts.remove(owner(number));
        if (number === last) {
          const update = "update memory_outbox set entry = ? where number = ?";
          this.#db.write(update, CONFIRMED, number);
        } else {
          this.#db.write("delete from memory_outbox where number = ?", number);
        }
      }
      // The confirmed row of the last number before this one, whose successors were pending.
      this.#db.write("delete from memory_outbox where entry = ? and number < ?", CONFIRMED, last);
    });
    this.#contents = { pending: rest, last };
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#contents = undefined;
  }

  #read(): Contents {
    if (this.#contents === undefined) {
      const rows = this.#table.exists
        ? this.#db.all<OutboxRow>(
            "select number, target, entry = ? as confirmed from memory_outbox order by number",
            CONFIRMED,
          )
        : [];
      this.#contents = {
        pending: rows.filter(({ confirmed }) => confirmed !== 1),
        last: rows.at(-1)?.number ?? 0,
      };
    }
    return this.#contents;
  }

  #entry(number: number): MemoryOutboxEntry {
    const row = this.#db.first<{ entry: string | null }>(
      "select entry from memory_outbox where number = ?",
      number,
    );
    const text = this.#texts.load(owner(number), row?.entry ?? null);
    return { ...(JSON.parse(text) as MemoryTurn), number };
  }
}

function owner(number: number): string {
  return `memory_outbox:${number}`;
}
