import { highestScore, roundedScore, weightOf } from "../core/search/rank.ts";
import type { Database } from "./database.ts";

/** A row with one of the words and its score by BM25; more is better. */
export interface WordHit {
  seq: number;
  score: number;
}

/** Hits that are ranked at most at a time. */
const MOST_HITS = 16_384;

/** A column weight at which FTS5's score of a word no longer depends on how often a row has it. */
const SATURATED = 1e15;

/** In an index of this many rows it is estimated what the words that are left can add to a row: reading all rows would take long. */
const MANY_ROWS = 2_000;
/** The estimate: three occurrences of the word in a row of average length. */
const ESTIMATE = 1.57;

/** A word of a query. */
interface Term {
  /** As a query of FTS5. */
  match: string;
  weight: number;
}

/**
 * Ranks the rows of an FTS5 table that have one of some words. FTS5's own `rank` gives no weight to a word that half of the
 * rows have, such as the name of a speaker, and its time grows with the square of the number of words. Here each word is
 * read by itself, the rarest first, and frequent words only for the rows that can still be among the best.
 */
export class WordRanking {
  readonly #db: Database;
  readonly #table: string;
  readonly #terms: readonly Term[];
  readonly #isLarge: boolean;

  /**
   * @param table has a table of its words beside it, `<table>_terms`
   * @param words words by their token
   * @param size the number of rows
   */
  constructor(db: Database, table: string, words: ReadonlyMap<string, string>, size: number) {
    this.#db = db;
    this.#table = table;
    this.#isLarge = size >= MANY_ROWS;
    const rowsWith = db.all<{ term: string; doc: number }>(
      `select term, doc from ${table}_terms where term in (select value from json_each(?))`,
      JSON.stringify([...words.keys()]),
    );
    this.#terms = rowsWith
      .toSorted((a, b) => a.doc - b.doc)
      .map(({ term, doc }) => ({
        match: `"${words.get(term)}"`,
        weight: weightOf(doc, Math.max(doc, size)),
      }));
  }

  /**
   * In batches, the best first, of equal ones the later first.
   *
   * @param first the size of the first batch: the fewer, the less is read
   */
  *hits(first: number): Generator<WordHit[], void, void> {
    for (let from = 0, count = first; ;) {
      const hits = this.#best(from + count).slice(from);
      if (hits.length > 0) yield hits;
      if (hits.length < count) return;
      from += count;
      count = Math.min(4 * count, MOST_HITS);
    }
  }

  /** The scores of some rows; those without one of the words are missing. */
  scores(seqs: readonly number[]): Map<number, number> {
    const scores = new Map<number, number>();
    if (seqs.length > 0) for (const term of this.#terms) this.#add(term, scores, seqs);
    return new Map(Array.from(scores, ([seq, score]) => [seq, roundedScore(score)]));
  }

  #best(most: number): WordHit[] {
    let scores = new Map<number, number>();
    let chosen: number[] | undefined;
    const mostOf = ({ weight }: Term): number =>
      this.#isLarge ? weight * ESTIMATE : highestScore(weight);
    /** What a row gains that has all words that are not read yet. */
    let rest = this.#terms.reduce((sum, term) => sum + mostOf(term), 0);
    for (const term of this.#terms) {
      const last = lastOf(scores, most, rest);
      if (last !== undefined) {
        scores = new Map([...scores].filter(([, score]) => score + rest >= last));
        chosen = [...scores.keys()];
      }
      this.#add(term, scores, chosen);
      rest -= mostOf(term);
    }
    return Array.from(scores, ([seq, score]) => ({ seq, score: roundedScore(score) }))
      .toSorted((a, b) => b.score - a.score || b.seq - a.seq)
      .slice(0, most);
  }

  /** Adds what a word contributes. @param among only to these rows */
  #add({ match, weight }: Term, scores: Map<number, number>, among?: readonly number[]): void {
    // The plus sign keeps SQLite from a search of its own for each of the rows.
    const rows = this.#db.all<{ seq: number; share: number }>(
      `select rowid as seq, bm25(${this.#table}) / bm25(${this.#table}, ${SATURATED}) as share from ${this.#table}
         where ${this.#table} match ?${among ? " and +rowid in (select value from json_each(?))" : ""}`,
      match,
      ...(among ? [JSON.stringify(among)] : []),
    );
    const highest = highestScore(weight);
    for (const { seq, share } of rows) scores.set(seq, (scores.get(seq) ?? 0) + share * highest);
  }
}

/** The score of the last of the best rows, if other rows do not reach it with what is not counted yet. */
function lastOf(scores: Map<number, number>, most: number, rest: number): number | undefined {
  if (scores.size < most) return undefined;
  const last = Float64Array.from(scores.values()).toSorted()[scores.size - most];
  return last !== undefined && last > rest ? last : undefined;
}
