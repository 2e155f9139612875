import type { Database } from "./database.ts";
import { LazyTable } from "./lazy-table.ts";

/** Rows are limited to 2 MB in production (not locally), keys and other columns included. */
const PART_BYTES = 1_000_000;
/** A UTF-16 unit takes at most three bytes, so shorter texts need no counting. */
const SURELY_SMALL = Math.floor(PART_BYTES / 3);

const encoder = new TextEncoder();

/**
 * Stores texts of any size. The owner's column holds the text itself; one that is too large for a row is null there and
 * stored in parts in the table `part`, under the owner's name.
 */
export class TextStore {
  readonly #db: Database;
  readonly #parts: LazyTable;

  constructor(db: Database) {
    this.#db = db;
    const columns = "owner text, n integer, body blob not null, primary key (owner, n)";
    this.#parts = new LazyTable(db, "part", `(${columns}) without rowid`);
  }

  /** Stores a large text in parts. Returns the value for the owner's column. */
  store(owner: string, text: string): string | null {
    if (text.length <= SURELY_SMALL) return text;
    const bytes = encoder.encode(text);
    if (bytes.length <= PART_BYTES) return text;
    this.#parts.create();
    for (let n = 0; n * PART_BYTES < bytes.length; n++) {
      const part = bytes.slice(n * PART_BYTES, (n + 1) * PART_BYTES);
      this.#db.write("insert or replace into part values (?, ?, ?)", owner, n, part.buffer);
    }
    return null;
  }

  /** The text whose column holds `column`. */
  load(owner: string, column: string | null): string {
    if (column !== null) return column;
    if (!this.#parts.exists) return "";
    const decoder = new TextDecoder();
    let text = "";
    for (const { body } of this.#db.all<{ body: ArrayBuffer }>(
      "select body from part where owner = ? order by n",
      owner,
    )) {
      text += decoder.decode(body, { stream: true });
    }
    return text + decoder.decode();
  }

  /** Stores one part of a large text of another team. */
  copyPart(owner: string, n: number, body: ArrayBuffer): void {
    this.#parts.create();
    this.#db.write("insert into part values (?, ?, ?)", owner, n, body);
  }

  /** The stored parts of a large text. */
  parts(owner: string, from: number): Iterable<{ n: number; body: ArrayBuffer }> {
    if (!this.#parts.exists) return [];
    return this.#db.each<{ n: number; body: ArrayBuffer }>(
      "select n, body from part where owner = ? and n >= ? order by n",
      owner,
      from,
    );
  }

  /** Bytes of the text, without loading parts. */
  size(owner: string, column: string | null): number {
    if (column !== null) return column.length;
    if (!this.#parts.exists) return 0;
    const row = this.#db.first<{ bytes: number | null }>(
      "select sum(length(body)) as bytes from part where owner = ?",
      owner,
    );
    return row?.bytes ?? 0;
  }

  remove(owner: string): void {
    if (this.#parts.exists) this.#db.write("delete from part where owner = ?", owner);
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#parts.forget();
  }
}
