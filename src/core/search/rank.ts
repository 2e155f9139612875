import { type CountedText, LANGUAGE_TOKENS, type QueryWord } from "./tokens.ts";

/** A search hit: the text's index and its score (more is better). */
export interface Hit {
  index: number;
  score: number;
}

const K1 = 1.2;
const B = 0.75;

/**
 * The additional weight of a word in texts that have it as it is written: a share of its own score for each word of the
 * query, and in a long question, which is about a topic and not about a word, the second number.
 */
const EXACT = 1;
const EXACT_IN_QUESTIONS = 0.2;
/** The weight of a word in texts that only have longer words with it, however often: less than that of the word itself. */
const LONGER = 0.3;
const MOST_OF_LONGER = 0.5;

/** A query has at most this many words: the rarest. Each costs look-ups, and the others decide little. */
const MOST_WORDS = 64;

/** The weight of a token that `having` of `size` texts contain. It is above 0 even if most texts contain it. */
export function weightOf(having: number, size: number): number {
  return Math.log(1 + (size - having + 0.5) / (having + 0.5));
}

/** The frequency of a word's tokens in a text, from 0 (never) to 1, damped as BM25 does. */
export interface Shares {
  /** The share of the token that it has most often. */
  word: number;
  exact: number;
}

/** The weight of exact words in a query. @see wordScore */
export function exactWeight(words: readonly QueryWord[]): number {
  const written = words.filter(({ exact }) => exact !== undefined).length;
  return Math.max(EXACT_IN_QUESTIONS, EXACT / Math.max(1, written));
}

/** The score of a word: that of BM25 where it is as it is written, less with another ending. @param forExact see {@link exactWeight} */
export function wordScore(weight: number, { word, exact }: Shares, forExact: number): number {
  return (weight * (K1 + 1) * (word + forExact * exact)) / (1 + forExact);
}

/** The score of longer words that begin or end with a word. @param share as in {@link Shares} */
export function longerScore(weight: number, share: number, forExact: number): number {
  return (weight * (K1 + 1) * LONGER * Math.min(share, MOST_OF_LONGER)) / (1 + forExact);
}

/** Rounds off the last digits: sums of the same numbers in another order differ there. */
export function roundedScore(score: number): number {
  return Math.round(score * 1e9) / 1e9;
}

/** A word and in how many texts it is. */
export interface CountedWord {
  word: QueryWord;
  having: number;
}

/** The words of a query that count: the rarest. */
export function rarest(words: readonly CountedWord[]): CountedWord[] {
  return words
    .toSorted((a, b) => Number(a.having === 0) - Number(b.having === 0) || a.having - b.having)
    .slice(0, MOST_WORDS);
}

/** The tokens of the languages of texts. */
export function languagesIn(texts: readonly CountedText[]): Set<string> {
  const { from, before } = LANGUAGE_TOKENS;
  const languages = new Set<string>();
  for (const { counts } of texts) {
    for (const token of counts.keys()) {
      if (token >= from && token < before) languages.add(token);
      // It comes first.
      break;
    }
  }
  return languages;
}

/**
 * The texts that contain one of the words, best first, of equal ones the later first. The score is BM25, as a host with
 * SQLite computes it, so that a search finds the same with and without SQLite, and a threshold means the same.
 */
export function rank(texts: readonly CountedText[], words: readonly QueryWord[]): Hit[] {
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const having = new Map<string, number>();
  for (const { counts } of texts) {
    for (const token of counts.keys()) having.set(token, (having.get(token) ?? 0) + 1);
  }
  const counted = rarest(
    words.map((word) => ({
      word,
      having: Math.max(0, ...word.tokens.map((token) => having.get(token) ?? 0)),
    })),
  );
  const all = [...having.keys()];
  const forExact = exactWeight(words);
  const weighted = counted.map(({ word, having: count }) => ({
    ...word,
    weight: weightOf(count, texts.length),
    longer: word.longer.map((start) => all.filter((token) => token.startsWith(start))),
  }));
  return texts
    .flatMap(({ counts, length }, index): Hit[] => {
      const norm = K1 * (1 - B + (B * length) / average);
      const share = (tokens: readonly string[]): number => {
        const frequency = tokens.reduce((sum, token) => sum + (counts.get(token) ?? 0), 0);
        return frequency === 0 ? 0 : frequency / (frequency + norm);
      };
      const most = (lists: readonly (readonly string[])[]): number =>
        Math.max(0, ...lists.map(share));
      const score = weighted.reduce((sum, { tokens, exact, longer, weight }) => {
        const word = most(tokens.map((token) => [token]));
        const shares = { word, exact: exact === undefined ? 0 : share([exact]) };
        return (
          sum + wordScore(weight, shares, forExact) + longerScore(weight, most(longer), forExact)
        );
      }, 0);
      return score === 0 ? [] : [{ index, score: roundedScore(score) }];
    })
    .toSorted((a, b) => b.score - a.score || b.index - a.index);
}
