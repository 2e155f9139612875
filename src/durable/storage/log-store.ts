import type { LogSource } from "../../core/state/item-log.ts";
import type { TextStore } from "./text-store.ts";
import type { EventReferences } from "./event-references.ts";
import type { Database } from "./database.ts";

interface LogRow extends Record<string, string | number | null> {
  generation: number;
  start: number;
  count: number;
  body: string | null;
}

/** The items of one row, and the position of the first. */
interface StoredItems {
  start: number;
  items: readonly unknown[];
}

/** The rows of logs: the items each turn appended, never overwritten. */
export class LogStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #references: EventReferences;

  constructor(db: Database, texts: TextStore, references: EventReferences) {
    this.#db = db;
    this.#texts = texts;
    this.#references = references;
  }

  /** The paths of all stored logs. */
  get paths(): string[] {
    return this.#db.all<{ path: string }>("select distinct path from log").map(({ path }) => path);
  }

  /** The current generation, -1 for a log without rows. */
  lastGeneration(path: string): number {
    return this.#lastRow(path)?.generation ?? -1;
  }

  /** The stored items of a log's current generation. */
  last(path: string): LogSource<unknown> {
    const last = this.#lastRow(path);
    const length = last === undefined ? 0 : last.start + last.count;
    return this.source(path, last?.generation ?? 0, length);
  }

  /** The items of one generation. Reading them one by one reads each row once. */
  source(path: string, generation: number, length: number): LogSource<unknown> {
    let last: StoredItems | undefined;
    const read = (from: number, to: number): unknown[] => {
      const known = last && from >= last.start && to <= last.start + last.items.length;
      const rows = known ? [last as StoredItems] : this.#rows(path, generation, from, to);
      const found: unknown[] = [];
      for (const row of rows) {
        const { start, items } = row;
        for (const item of items.slice(Math.max(0, from - start), to - start)) found.push(item);
        last = row;
      }
      return found;
    };
    return { generation, length, read };
  }

  /** The items of the current generation, row by row. */
  *rows(path: string): Iterable<readonly unknown[]> {
    const { generation, length } = this.last(path);
    for (const { items } of this.#rows(path, generation, 0, length)) yield items;
  }

  write(
    path: string,
    generation: number,
    start: number,
    items: readonly unknown[],
    turn: number,
  ): void {
    // The row of an empty generation is at -1, so that it does not collide with that of its first item.
    const [first, count] = items.length === 0 ? [-1, 1] : [start, items.length];
    this.#db.write(
      "insert into log values (?, ?, ?, ?, ?, ?)",
      path,
      generation,
      first,
      count,
      turn,
      this.#texts.store(logOwner(path, generation, first), this.#references.write(items)),
    );
  }

  #lastRow(path: string): LogRow | undefined {
    return this.#db.first<LogRow>(
      `select generation, start, count, body from log where path = ?
         order by generation desc, start desc limit 1`,
      path,
    );
  }

  *#rows(path: string, generation: number, from: number, to: number): Iterable<StoredItems> {
    for (const { start, body } of this.#db.each<LogRow>(
      `select generation, start, count, body from log where path = ?1 and generation = ?2 and start < ?4
         and start >= (select max(start) from log where path = ?1 and generation = ?2 and start <= ?3)
         order by start`,
      path,
      generation,
      from,
      to,
    )) {
      const text = this.#texts.load(logOwner(path, generation, start), body);
      yield { start, items: this.#references.read(text) };
    }
  }
}

export function logOwner(path: string, generation: number, start: number): string {
  return `log:${path}:${generation}:${start}`;
}
