import {
  exactWeight,
  longerScore,
  rarest,
  roundedScore,
  type Shares,
  weightOf,
  wordScore,
} from "../core/search/rank.ts";
import { LANGUAGE_TOKENS, type QueryWord } from "../core/search/tokens.ts";
import type { Database } from "./database.ts";

/** Tokens are made here, not by SQLite, which only separates them: so they are the same without it. */
export const WORD_TOKENIZER = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc Me'";

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
/** The estimate: the part of the highest score that three occurrences of the word in a row of average length give. */
const ESTIMATE = 0.71;

/** The addition of one reading of the index to the scores of rows. */
interface Step {
  most: number;
  /** @param among only to these rows; undefined: all */
  read(among: readonly number[] | undefined): Iterable<[seq: number, score: number]>;
}

/** A table of words whose rows have not been moved to the present one. */
export interface EarlierTable {
  name: string;
  /** The words of a query, as its tokenizer reads them. */
  wordOf(word: QueryWord): string | undefined;
}

/** The tokens of the languages that rows of the table have. */
export function languageTokens(db: Database, table: string): string[] {
  const { from, before } = LANGUAGE_TOKENS;
  return db
    .all<{ term: string }>(
      `select term from ${table}_terms where term >= ? and term < ?`,
      from,
      before,
    )
    .map(({ term }) => term);
}

/** A query of FTS5 for one token, or for those that begin with it. */
function phrase(token: string, isBeginning = false): string {
  return `"${token}"${isBeginning ? " *" : ""}`;
}

/**
 * Ranks the rows of an FTS5 table that have one of some words. FTS5's own `rank` gives no weight to a word that half of the
 * rows have, such as the name of a speaker, and its time grows with the square of the number of words. Here each word is
 * read by itself, the rarest first, and frequent words only for the rows that can still be among the best.
 */
export class WordRanking {
  readonly #db: Database;
  readonly #table: string;
  readonly #earlier: EarlierTable | undefined;
  readonly #steps: readonly Step[];
  readonly #isLarge: boolean;

  /**
   * @param table has a table of its tokens beside it, `<table>_terms`
   * @param size the number of rows
   * @param earlier has the rows that are missing in the table
   */
  constructor(
    db: Database,
    table: string,
    words: readonly QueryWord[],
    size: number,
    earlier?: EarlierTable,
  ) {
    this.#db = db;
    this.#table = table;
    this.#earlier = earlier;
    this.#isLarge = size >= MANY_ROWS;
    const rowsWith = this.#rowsWith(words);
    const counted = words.map((word) => ({
      word,
      having: Math.max(0, ...word.tokens.map((token) => rowsWith.get(token) ?? 0)),
    }));
    const weighted = rarest(counted).map(({ word, having }) => {
      const all = having + this.#earlierWith(word);
      return { word, having: all, weight: weightOf(Math.min(all, size), size) };
    });
    const present = weighted.filter(({ having }) => having > 0);
    const forExact = exactWeight(words);
    const inLonger = weighted.filter(({ word }) => word.longer.length > 0);
    this.#steps = [
      ...present
        .toSorted((a, b) => b.weight - a.weight)
        .map(({ word, weight }) => this.#wordStep(word, weight, forExact)),
      ...inLonger.map(({ word, weight }) => this.#longerStep(word, weight, forExact)),
    ];
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
    if (seqs.length > 0) for (const step of this.#steps) add(step, scores, seqs);
    return new Map(Array.from(scores, ([seq, score]) => [seq, roundedScore(score)]));
  }

  #best(most: number): WordHit[] {
    let scores = new Map<number, number>();
    let chosen: number[] | undefined;
    const mostOf = (step: Step): number => (this.#isLarge ? step.most * ESTIMATE : step.most);
    /** The gain of a row that has all words that are not read yet. */
    let rest = this.#steps.reduce((sum, step) => sum + mostOf(step), 0);
    for (const step of this.#steps) {
      const last = lastOf(scores, most, rest);
      if (last !== undefined) {
        scores = new Map([...scores].filter(([, score]) => score + rest >= last));
        chosen = [...scores.keys()];
      }
      add(step, scores, chosen);
      rest -= mostOf(step);
    }
    return Array.from(scores, ([seq, score]) => ({ seq, score: roundedScore(score) }))
      .toSorted((a, b) => b.score - a.score || b.seq - a.seq)
      .slice(0, most);
  }

  #wordStep(word: QueryWord, weight: number, forExact: number): Step {
    const { tokens, exact } = word;
    const earlier = this.#earlier?.wordOf(word);
    return {
      most: wordScore(weight, { word: 1, exact: 1 }, forExact),
      read: (among) => {
        const shares = new Map<number, Shares>();
        const addShares = (table: string, match: string, isExact: boolean): void => {
          for (const { seq, share } of this.#shares(table, match, among)) {
            const existing = shares.get(seq) ?? { word: 0, exact: 0 };
            if (share > existing.word) existing.word = share;
            if (isExact) existing.exact = share;
            shares.set(seq, existing);
          }
        };
        for (const token of tokens) addShares(this.#table, phrase(token), token === exact);
        if (this.#earlier && earlier !== undefined) {
          addShares(this.#earlier.name, phrase(earlier), false);
        }
        return Array.from(shares, ([seq, found]) => [seq, wordScore(weight, found, forExact)]);
      },
    };
  }

  #longerStep({ longer }: QueryWord, weight: number, forExact: number): Step {
    return {
      most: longerScore(weight, 1, forExact),
      read: (among) => {
        const shares = new Map<number, number>();
        for (const start of longer) {
          for (const { seq, share } of this.#shares(this.#table, phrase(start, true), among)) {
            shares.set(seq, Math.max(share, shares.get(seq) ?? 0));
          }
        }
        return Array.from(shares, ([seq, share]) => [seq, longerScore(weight, share, forExact)]);
      },
    };
  }

  /** The frequency of a token in rows, damped, from 0 to 1. @see Shares */
  #shares(
    table: string,
    match: string,
    among: readonly number[] | undefined,
  ): { seq: number; share: number }[] {
    // The plus sign keeps SQLite from a search of its own for each of the rows.
    return this.#db.all<{ seq: number; share: number }>(
      `select rowid as seq, bm25(${table}) / bm25(${table}, ${SATURATED}) as share from ${table}
         where ${table} match ?${among ? " and +rowid in (select value from json_each(?))" : ""}`,
      match,
      ...(among ? [JSON.stringify(among)] : []),
    );
  }

  #rowsWith(words: readonly QueryWord[]): Map<string, number> {
    const rows = this.#db.all<{ term: string; doc: number }>(
      `select term, doc from ${this.#table}_terms where term in (select value from json_each(?))`,
      JSON.stringify(words.flatMap(({ tokens }) => tokens)),
    );
    return new Map(rows.map(({ term, doc }) => [term, doc]));
  }

  /** The number of rows of the earlier table that have the word. */
  #earlierWith(word: QueryWord): number {
    const earlier = this.#earlier?.wordOf(word);
    if (this.#earlier === undefined || earlier === undefined) return 0;
    const { name } = this.#earlier;
    const query = `select count(*) as rows from ${name} where ${name} match ?`;
    return this.#db.first<{ rows: number }>(query, phrase(earlier))?.rows ?? 0;
  }
}

function add(step: Step, scores: Map<number, number>, among: readonly number[] | undefined): void {
  for (const [seq, score] of step.read(among)) scores.set(seq, (scores.get(seq) ?? 0) + score);
}

/** The score of the last of the best rows, if other rows do not reach it with what is not counted yet. */
function lastOf(scores: Map<number, number>, most: number, rest: number): number | undefined {
  if (scores.size < most) return undefined;
  const last = Float64Array.from(scores.values()).toSorted()[scores.size - most];
  return last !== undefined && last > rest ? last : undefined;
}
