import type { Database } from "./database.ts";
import { LazyTable } from "./lazy-table.ts";

/** Rows are limited to 2 MB in production (not locally), keys and other columns included. */
export const PART_BYTES = 1_000_000;

export interface StoredPart {
  n: number;
  body: ArrayBuffer;
}

/** Bytes of any size under the name of their owner, in rows of 1 MB. */
export class PartStore {
  readonly #db: Database;
  readonly #table: LazyTable;

  constructor(db: Database) {
    this.#db = db;
    const columns = "owner text, n integer, body blob not null, primary key (owner, n)";
    this.#table = new LazyTable(db, "part", `(${columns}) without rowid`);
  }

  /** True if anything was ever stored here. */
  get exist(): boolean {
    return this.#table.exists;
  }

  /** Returns the number of parts. */
  write(owner: string, bytes: Uint8Array): number {
    let count = 0;
    for (const { n, body } of partsOf(bytes)) {
      this.add(owner, n, body);
      count++;
    }
    return count;
  }

  add(owner: string, n: number, body: ArrayBuffer): void {
    this.#table.create();
    this.#db.write("insert or replace into part values (?, ?, ?)", owner, n, body);
  }

  /** The parts from `from` on, one by one. */
  read(owner: string, from = 0): Iterable<StoredPart> {
    if (!this.#table.exists) return [];
    return this.#db.each<{ n: number; body: ArrayBuffer }>(
      "select n, body from part where owner = ? and n >= ? order by n",
      [owner, from],
      ({ n }) => [owner, n + 1],
    );
  }

  /** The number of parts, and their bytes, without loading them. */
  size(owner: string): { count: number; bytes: number } {
    const none = { count: 0, bytes: 0 };
    if (!this.#table.exists) return none;
    const query =
      "select count(*) as count, coalesce(sum(length(body)), 0) as bytes from part where owner = ?";
    return this.#db.first<{ count: number; bytes: number }>(query, owner) ?? none;
  }

  remove(owner: string): void {
    if (this.#table.exists) this.#db.write("delete from part where owner = ?", owner);
  }
}

/** The parts in which bytes are stored. */
export function* partsOf(bytes: Uint8Array): Iterable<StoredPart> {
  for (let n = 0; n === 0 || n * PART_BYTES < bytes.length; n++) {
    yield { n, body: bytes.slice(n * PART_BYTES, (n + 1) * PART_BYTES).buffer };
  }
}

/** Bytes of parts in their order. */
export function joined(parts: Iterable<StoredPart>): Uint8Array<ArrayBuffer> {
  const bodies = Array.from(parts, ({ body }) => new Uint8Array(body));
  const [only] = bodies;
  if (bodies.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(bodies.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const body of bodies) {
    bytes.set(body, at);
    at += body.length;
  }
  return bytes;
}
