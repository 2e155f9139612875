import type * as z from "zod";
import { type Hit, languagesIn, rank } from "../search/rank.ts";
import { provideStemmers } from "../search/stem.ts";
import { STEMMERS } from "../search/stemmers.ts";
import { type CountedText, countTokens, queryWords } from "../search/tokens.ts";
import { ItemLog, type LogIndex, type LogSource } from "./item-log.ts";

/** A found item and its score (BM25; more is better). */
export interface Found<T> {
  item: T;
  score: number;
}

export interface SearchOptions<T> {
  limit: number;
  /** The lowest score. By default there is no limit. */
  minScore?: number;
  accept?: (item: T) => boolean;
}

/**
 * An item log whose items are found by their text: those that hold one of the query's words, best first. A host with a
 * full-text index answers from it, with what was not stored yet included; without one all items are read.
 */
export class SearchableLog<T> extends ItemLog<T> {
  override readonly index: LogIndex<T>;
  #source: LogSource<T> | undefined;
  /** Counting the words of a text takes most of the time of a search without an index. */
  readonly #counted: { item: T; text: CountedText }[] = [];

  constructor(index: LogIndex<T>, schema?: z.ZodType<T>) {
    super(schema);
    provideStemmers(STEMMERS);
    this.index = index;
  }

  /** @param query any text; only its words matter */
  search(query: string, { limit, minScore, accept }: SearchOptions<T>): Found<T>[] {
    const found: Found<T>[] = [];
    if (this.length === 0) return found;
    const visit = (hits: readonly Hit[]): boolean => {
      const fitting = minScore === undefined ? hits : hits.filter(({ score }) => score >= minScore);
      found.push(...this.#best(fitting, limit - found.length, accept));
      return found.length < limit && fitting.length === hits.length;
    };
    const changes = this.changes();
    // Items that were added since the current turn are all in memory.
    if (this.#source?.search !== undefined && changes?.start !== 0) {
      this.#source.search(query, changes, visit);
    } else {
      const texts = this.#countAll();
      visit(rank(texts, queryWords(query, this.index, languagesIn(texts))));
    }
    return found;
  }

  #countAll(): CountedText[] {
    const items = this.slice();
    this.#counted.length = Math.min(this.#counted.length, items.length);
    return items.map((item, index) => {
      const known = this.#counted[index];
      if (known?.item === item) return known.text;
      const text = countTokens(this.index.textOf(item), this.index);
      this.#counted[index] = { item, text };
      return text;
    });
  }

  /**
   * The first `most` accepted items among the hits. They are read in the order of the log, because a source has many in
   * a row.
   */
  #best(hits: readonly Hit[], most: number, accept?: (item: T) => boolean): Found<T>[] {
    const read = (accept ? hits : hits.slice(0, most))
      .map((hit, position) => ({ ...hit, place: position }))
      .toSorted((a, b) => a.index - b.index);
    let best: (Found<T> & { place: number })[] = [];
    const cut = (): void => {
      best = best.toSorted((a, b) => a.place - b.place).slice(0, most);
    };
    for (const { index, score, place } of read) {
      for (const item of this.slice(index, index + 1)) {
        if (accept?.(item) ?? true) best.push({ item, score, place });
      }
      // Items may be large.
      if (best.length > 2 * most) cut();
    }
    cut();
    return best.map(({ item, score }) => ({ item, score }));
  }

  override mark(): void {
    super.mark();
    // Stored items are found in the host's index from now on.
    if (this.#source?.search !== undefined) this.#counted.length = 0;
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
