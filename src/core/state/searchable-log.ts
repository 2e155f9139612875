import { rank } from "../search/rank.ts";
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

  constructor(index: LogIndex<T>) {
    super();
    this.index = index;
  }

  /** @param query any text; nothing in it has a meaning beyond its words */
  search(query: string, { limit, minScore, accept }: SearchOptions<T>): Found<T>[] {
    const { tokenizer } = this.index;
    const terms = termsOf(query, tokenizer);
    const found: Found<T>[] = [];
    if (terms.size === 0 || this.length === 0) return found;
    const visit = (index: number, score: number): boolean => {
      if (minScore !== undefined && score < minScore) return false;
      for (const item of this.slice(index, index + 1)) {
        if (accept?.(item) ?? true) found.push({ item, score });
      }
      return found.length < limit;
    };
    const changes = this.changes();
    // What begins with this turn is all in memory.
    if (this.#source?.search !== undefined && changes?.start !== 0) {
      this.#source.search(terms, changes, visit);
      return found;
    }
    const texts = this.slice().map((item) => this.index.textOf(item));
    for (const { index, score } of rank(texts, terms.keys(), tokenizer)) {
      if (!visit(index, score)) break;
    }
    return found;
  }

  override takeOver(previous: ItemLog<T>): void {
    const own = this.#source;
    super.takeOver(previous);
    if (this.#source === undefined || own?.search === undefined) return;
    // The index follows this log's settings, not the other's.
    this.#source = { ...this.#source, search: (...search) => own.search?.(...search) };
  }

  override restore(source: LogSource<T>): void {
    super.restore(source);
    this.#source = source;
  }
}
