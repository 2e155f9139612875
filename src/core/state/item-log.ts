import type { Hit } from "../search/rank.ts";
import type { Tokenizer } from "../search/tokens.ts";

/** What happened to a log since it was last marked: `items` stand at `start` of `generation`. */
export interface LogChanges<T> {
  generation: number;
  start: number;
  items: readonly T[];
}

/** Where a log's committed items are kept outside memory. `read` returns the items of `[from, to)`. */
export interface LogSource<T> {
  generation: number;
  length: number;
  read(from: number, to: number): T[];
  /**
   * For a log with an index: goes through the items that hold one of `terms`, best first, of equal ones the later first,
   * some at a time, until `visit` returns false. Items are the committed ones and those that `changes` adds to them.
   *
   * @param terms by their token
   */
  search?(
    terms: ReadonlyMap<string, string>,
    changes: LogChanges<T> | undefined,
    visit: (hits: readonly Hit[]) => boolean,
  ): void;
}

/** How the items of a log are found by their text. */
export interface LogIndex<T> {
  tokenizer: Tokenizer;
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
 * An append-only list whose host stores only what was added since the last {@link mark}: threads and model
 * contexts. Clearing starts a new generation, so that stored items are never overwritten. Items are immutable.
 */
export class ItemLog<T> {
  /** Of a log that can be searched. */
  readonly index: LogIndex<T> | undefined;
  #now: Version<T> = { generation: 0, base: 0, items: [], source: undefined };
  #marked: Version<T> = this.#now;
  #markedLength = 0;
  /** Index of the first item read since the last {@link releaseUnread}. */
  #lowestRead = Number.POSITIVE_INFINITY;

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
   * The items from `from` up to (not including) `to`; negative numbers count from the end. What lies wholly before
   * the items in memory is read by itself and not kept: a context's first messages must not bring in all between.
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

  /** What has to be stored to make the marked version the present one; undefined when nothing. */
  changes(): LogChanges<T> | undefined {
    const { generation, base, items } = this.#now;
    if (generation !== this.#marked.generation) return { generation, start: 0, items };
    if (this.length === this.#markedLength) return undefined;
    return { generation, start: this.#markedLength, items: items.slice(this.#markedLength - base) };
  }

  /** Takes the present version as the stored one. */
  mark(): void {
    this.#marked = this.#now;
    this.#markedLength = this.length;
  }

  /** Goes back to the marked version. */
  rollback(): void {
    this.#now = this.#marked;
    this.#now.items.length = this.#markedLength - this.#now.base;
  }

  /** Takes over what a host has stored; items are read when they are asked for. */
  restore(source: LogSource<T>): void {
    this.#now = { generation: source.generation, base: source.length, items: [], source };
    this.mark();
  }

  /** Goes on with another log's items. What is stored of them at the same place of the tree stays as it is. */
  takeOver(previous: ItemLog<T>): void {
    const { source } = previous.#now;
    if (source?.length === previous.length) this.restore(source);
    else for (const item of previous.slice()) this.append(item);
  }

  /** Drops marked items from memory that nobody has read since the last call, where a source can bring them back. */
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
