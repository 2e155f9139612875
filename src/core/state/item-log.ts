import type * as z from "zod";
import { StateError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { Hit } from "../search/rank.ts";
import type { Analysis } from "../search/tokens.ts";

/** Changes of a log since the last mark: `items` begin at index `start` of `generation`. */
export interface LogChanges<T> {
  generation: number;
  start: number;
  items: readonly T[];
}

/** A log's committed items in storage. `read` returns the items of `[from, to)`. */
export interface LogSource<T> {
  generation: number;
  length: number;
  read(from: number, to: number): T[];
  /**
   * For a log with an index: visits the items that contain one of the words of a query in batches, best first and of equal ones
   * the later first, until `visit` returns false. Covers the committed items and those that `changes` adds.
   */
  search?(
    query: string,
    changes: LogChanges<T> | undefined,
    visit: (hits: readonly Hit[]) => boolean,
  ): void;
}

/** Makes the items of a log searchable by their text. */
export interface LogIndex<T> extends Analysis {
  textOf(item: T): string;
}

interface Version<T> {
  generation: number;
  /** Index of the first item held in memory; earlier ones are read from the source. */
  base: number;
  items: T[];
  source: LogSource<T> | undefined;
}

/**
 * An append-only list: threads and model contexts. A host stores only the items added since the last {@link mark}.
 * Clearing starts a new generation, so that stored items are never overwritten. Items are immutable.
 */
export class ItemLog<T> {
  /** Present only in a searchable log. */
  readonly index: LogIndex<T> | undefined;
  #now: Version<T> = { generation: 0, base: 0, items: [], source: undefined };
  #marked: Version<T> = this.#now;
  #markedLength = 0;
  /** Index of the first item read since the last {@link releaseUnread}. */
  #lowestRead = Number.POSITIVE_INFINITY;
  readonly #schema: z.ZodType<T> | undefined;

  /** @param schema checks items that a host loads from elsewhere */
  constructor(schema?: z.ZodType<T>) {
    this.#schema = schema;
  }

  /** @throws StateError for a value that is not an item of this log */
  requireItems(items: readonly unknown[]): void {
    for (const [index, item] of items.entries()) {
      const { error } = this.#schema?.safeParse(item) ?? {};
      if (error === undefined) continue;
      const issues = issuesOf(error, `[${index}]`);
      throw new StateError(listIssues(issues), { issues });
    }
  }

  get generation(): number {
    return this.#now.generation;
  }

  get length(): number {
    return this.#now.base + this.#now.items.length;
  }

  append(...items: readonly T[]): void {
    for (const item of items) this.#now.items.push(item);
  }

  /**
   * The items from `from` up to (not including) `to`; negative numbers count from the end. A range before the items in
   * memory is read without keeping it: the first messages of a context must not load everything after them.
   */
  slice(from = 0, to = this.length): T[] {
    const start = Math.max(0, from < 0 ? this.length + from : from);
    const end = Math.min(this.length, to < 0 ? this.length + to : to);
    if (start >= end) return [];
    const { base, source } = this.#now;
    if (source !== undefined && end < base) return source.read(start, end);
    this.#lowestRead = Math.min(this.#lowestRead, start);
    this.#load(start);
    return this.#now.items.slice(start - this.#now.base, end - this.#now.base);
  }

  clear(): void {
    if (this.length === 0) return;
    this.#now = { generation: this.#now.generation + 1, base: 0, items: [], source: undefined };
  }

  /** The changes since the marked version, which a host must store; undefined if there are none. */
  changes(): LogChanges<T> | undefined {
    const { generation, base, items } = this.#now;
    if (generation !== this.#marked.generation) return { generation, start: 0, items };
    if (this.length === this.#markedLength) return undefined;
    return { generation, start: this.#markedLength, items: items.slice(this.#markedLength - base) };
  }

  /** Marks the current version as stored. */
  mark(): void {
    this.#marked = this.#now;
    this.#markedLength = this.length;
  }

  /** Returns to the marked version. */
  rollback(): void {
    this.#now = this.#marked;
    this.#now.items.length = this.#markedLength - this.#now.base;
  }

  /** Starts from stored items, which are read when they are needed. */
  restore(source: LogSource<T>): void {
    this.#now = { generation: source.generation, base: source.length, items: [], source };
    this.mark();
  }

  /** Continues with another log's items. Items that are stored at the same place of the tree are not read. */
  continueFrom(previous: ItemLog<T>): void {
    const { source } = previous.#now;
    if (source?.length === previous.length) this.restore(source);
    else for (const item of previous.slice()) this.append(item);
  }

  /** Drops marked items from memory that were not read since the last call and can be read again from the source. */
  releaseUnread(): void {
    const { source, base, items } = this.#now;
    const upTo = Math.min(this.#lowestRead, this.#markedLength);
    this.#lowestRead = this.length;
    if (source === undefined || this.#now !== this.#marked || upTo <= base) return;
    items.splice(0, upTo - base);
    this.#now.base = upTo;
  }

  #load(start: number): void {
    const { base, items, source } = this.#now;
    if (start >= base || source === undefined) return;
    this.#now.items = [...source.read(start, base), ...items];
    this.#now.base = start;
  }
}
