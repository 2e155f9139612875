import type { CountedText } from "./tokens.ts";

/** A search hit: the text's index and its score (more is better). */
export interface Hit {
  index: number;
  score: number;
}

const K1 = 1.2;
const B = 0.75;

/** The weight of a token that `having` of `size` texts contain. It is above 0 even if most texts contain it. */
export function weightOf(having: number, size: number): number {
  return Math.log(1 + (size - having + 0.5) / (having + 0.5));
}

/** The most that a token can add to the score of a text, however often it occurs there. */
export function highestScore(weight: number): number {
  return weight * (K1 + 1);
}

/** Rounds off the last digits: sums of the same numbers in another order differ there. */
export function roundedScore(score: number): number {
  return Math.round(score * 1e9) / 1e9;
}

/**
 * The texts that contain one of `tokens`, best first, of equal ones the later first. The score is BM25, as a host with
 * SQLite computes it, so that a search finds the same with and without SQLite, and a threshold means the same.
 */
export function rank(texts: readonly CountedText[], tokens: Iterable<string>): Hit[] {
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const weighted = Array.from(new Set(tokens), (token) => {
    const having = texts.filter(({ counts }) => counts.has(token)).length;
    return { token, weight: weightOf(having, texts.length) };
  });
  return texts
    .flatMap(({ counts, length }, index): Hit[] => {
      const held = weighted.filter(({ token }) => counts.has(token));
      if (held.length === 0) return [];
      const norm = K1 * (1 - B + (B * length) / average);
      const score = held.reduce((sum, { token, weight }) => {
        const frequency = counts.get(token) ?? 0;
        return sum + highestScore(weight) * (frequency / (frequency + norm));
      }, 0);
      return [{ index, score: roundedScore(score) }];
    })
    .toSorted((a, b) => b.score - a.score || b.index - a.index);
}
