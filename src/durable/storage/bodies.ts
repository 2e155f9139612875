import type { Database } from "./database.ts";

/** Rows may have 2 MB in production (any size locally); bodies share theirs with keys and other columns. */
const PART_BYTES = 1_000_000;
/** A UTF-16 unit takes at most three bytes: below this no counting is needed. */
const SURELY_SMALL = Math.floor(PART_BYTES / 3);

const encoder = new TextEncoder();

/**
 * Texts of any size. A column holds the text itself or, when that is too big for a row, null; then it stands in
 * `part` under its owner's name.
 */
export class Bodies {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** What to put into the owner's column. Texts in parts belong to the owner from now on. */
  store(owner: string, text: string): string | null {
    if (text.length <= SURELY_SMALL) return text;
    const bytes = encoder.encode(text);
    if (bytes.length <= PART_BYTES) return text;
    for (let n = 0; n * PART_BYTES < bytes.length; n++) {
      const part = bytes.slice(n * PART_BYTES, (n + 1) * PART_BYTES);
      this.#db.write("insert or replace into part values (?, ?, ?)", owner, n, part.buffer);
    }
    return null;
  }

  /** The text whose column holds `column`. */
  load(owner: string, column: string | null): string {
    if (column !== null) return column;
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

  /** The parts of a text that has some, as they are stored. */
  parts(owner: string, from: number): Iterable<{ n: number; body: ArrayBuffer }> {
    return this.#db.each<{ n: number; body: ArrayBuffer }>(
      "select n, body from part where owner = ? and n >= ? order by n",
      owner,
      from,
    );
  }

  /** Bytes of the text, without loading parts. */
  size(owner: string, column: string | null): number {
    if (column !== null) return column.length;
    const row = this.#db.first<{ bytes: number | null }>(
      "select sum(length(body)) as bytes from part where owner = ?",
      owner,
    );
    return row?.bytes ?? 0;
  }

  remove(owner: string): void {
    this.#db.write("delete from part where owner = ?", owner);
  }
}
