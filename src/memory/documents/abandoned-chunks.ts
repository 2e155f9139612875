import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";

/** Chunks that are removed in one transaction. */
const AT_ONCE = 200;
/** When it is looked again for chunks of a document that is being written. */
const WRITING_MS = 60_000;

/** The methods of the index that it needs. */
interface IndexOfChunks {
  find(id: string): { seq: number } | undefined;
  remove(seq: number): void;
  change(changes: () => void): void;
}

const ABANDONED = "(series text primary key, next integer not null) without rowid";

/**
 * Chunks that belong to no document: of one that is being written, whose object may be killed, and of one that was replaced or
 * deleted. Searches leave them out, and they are removed a few at a time, because those of a large document would hold the object.
 */
export class AbandonedChunks {
  readonly #db: Database;
  readonly #index: IndexOfChunks;
  readonly #table: LazyTable;
  readonly #onAbandoned: () => void;
  /** Those of documents that are being written now. */
  readonly #written = new Set<string>();

  constructor(db: Database, index: IndexOfChunks, onAbandoned: () => void) {
    this.#db = db;
    this.#index = index;
    this.#table = new LazyTable(db, "abandoned", ABANDONED);
    this.#onAbandoned = onAbandoned;
  }

  /** Chunks of this series are written from now on, until {@link end} or {@link leave}. Call it in a transaction. */
  begin(series: string): void {
    if (this.#written.has(series)) return;
    this.#insert(series, 0);
    this.#written.add(series);
  }

  /** The series belongs to a document. Call it in the transaction that says so. */
  end(series: string): void {
    if (this.#written.has(series)) this.#delete(series);
  }

  /** Nothing is written any more. */
  leave(series: string): void {
    if (this.#written.delete(series)) this.#onAbandoned();
  }

  /** The chunks no longer belong to a document. A few are removed at once. Call it in the transaction that says so. */
  add(series: string, count: number): void {
    if (count <= AT_ONCE) this.#remove(series, 0);
    else this.#insert(series, 0);
  }

  /** True for a chunk that belongs to no document, by its id; undefined if all belong to one. */
  filter(): ((id: string) => boolean) | undefined {
    if (!this.#table.exists) return undefined;
    const rows = this.#db.all<{ series: string }>("select series from abandoned");
    if (rows.length === 0) return undefined;
    const all = new Set(rows.map(({ series }) => series));
    return (id) => all.has(id.slice(0, id.lastIndexOf("/")));
  }

  /** Removes some. @returns milliseconds until it is to be called again; undefined if none are left */
  sweep(): number | undefined {
    if (!this.#table.exists) return undefined;
    const rows = this.#db.all<{ series: string; next: number }>("select * from abandoned");
    const row = rows.find(({ series }) => !this.#written.has(series));
    if (row === undefined) return rows.length === 0 ? undefined : WRITING_MS;
    const { series, next } = row;
    this.#index.change(() => {
      if (this.#remove(series, next)) this.#insert(series, next + AT_ONCE);
      else this.#delete(series);
    });
    return 0;
  }

  /** @returns whether there may be others */
  #remove(series: string, from: number): boolean {
    for (let n = from; n < from + AT_ONCE; n++) {
      const row = this.#index.find(chunkId(series, n));
      if (row === undefined) return false;
      this.#index.remove(row.seq);
    }
    return true;
  }

  #insert(series: string, next: number): void {
    this.#table.create();
    this.#db.write("insert or replace into abandoned values (?, ?)", series, next);
    this.#onAbandoned();
  }

  #delete(series: string): void {
    this.#db.write("delete from abandoned where series = ?", series);
  }
}

export function chunkId(series: string, n: number): string {
  return `${series}/${n}`;
}
