import type * as z from "zod";
import { type Hit, rank } from "../search/rank.ts";
import { termsOf } from "../search/tokens.ts";
import { ItemLog, type LogIndex, type LogSource } from "./item-log.ts";

/** An item that was found, and how well it fits (BM25; more is better). */
export interface Found<T> {
  item: T;
  score: number;
}

export interface SearchOptions<T> {
  limit: number;
  /** What fits worse is left out. Default: nothing is. */
  minScore?: number;
  accept?: (item: T) => boolean;
}

/**
 * An item log whose items are found by their text: those that hold one of the query's rarest words, best first. A host with a
 * full-text index answers from it, with what was not stored yet included; without one all items are read.
 */
export class SearchableLog<T> extends ItemLog<T> {
  override readonly index: LogIndex<T>;
  #source: LogSource<T> | undefined;

  constructor(index: LogIndex<T>, schema?: z.ZodType<T>) {
    super(schema);
    this.index = index;
  }

  /** @param query any text; nothing in it has a meaning beyond its words */
  search(query: string, { limit, minScore, accept }: SearchOptions<T>): Found<T>[] {
    const { tokenizer } = this.index;
    const terms = termsOf(query, tokenizer);
    const found: Found<T>[] = [];
    if (terms.size === 0 || this.length === 0) return found;
    const visit = (hits: readonly Hit[]): boolean => {
      const fitting = minScore === undefined ? hits : hits.filter(({ score }) => score >= minScore);
      found.push(...this.#best(fitting, limit - found.length, accept));
      return found.length < limit && fitting.length === hits.length;
    };
    const changes = this.changes();
    // What begins with this turn is all in memory.
    if (this.#source?.search !== undefined && changes?.start !== 0) {
      this.#source.search(terms, changes, visit);
    } else {
      const texts = this.slice().map((item) => this.index.textOf(item));
      visit(rank(texts, terms.keys(), tokenizer));
    }
    return found;
  }

  /** The first `most` of the hits' items that are accepted. They are read as they stand: a source has many in a row. */
  #best(hits: readonly Hit[], most: number, accept?: (item: T) => boolean): Found<T>[] {
    const read = (accept ? hits : hits.slice(0, most))
      .map((hit, place) => ({ ...hit, place }))
      .toSorted((a, b) => a.index - b.index);
    let best: (Found<T> & { place: number })[] = [];
    const cut = (): void => {
      best = best.toSorted((a, b) => a.place - b.place).slice(0, most);
    };
    for (const { index, score, place } of read) {
      for (const item of this.slice(index, index + 1)) {
        if (accept?.(item) ?? true) best.push({ item, score, place });
      }
      // Items may be big.
      if (best.length > 2 * most) cut();
    }
    cut();
    return best.map(({ item, score }) => ({ item, score }));
  }

  override continueFrom(previous: ItemLog<T>): void {
    const own = this.#source;
    super.continueFrom(previous);
    if (this.#source === undefined || own?.search === undefined) return;
    // The index follows this log's settings, not the other's.
    this.#source = { ...this.#source, search: (...search) => own.search?.(...search) };
  }

  override restore(source: LogSource<T>): void {
    super.restore(source);
    this.#source = source;
  }
}
