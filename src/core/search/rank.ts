import { type Tokenizer, tokensOf } from "./tokens.ts";

/** A text that was found: which one, and how well it fits (more is better). */
export interface Hit {
  index: number;
  score: number;
}

const K1 = 1.2;
const B = 0.75;
/** What a term counts that half of the texts or more have. */
const COMMON = 1e-6;

/**
 * The texts that hold one of `tokens`, best first, of equal ones the later first. The score is BM25 as SQLite's FTS5
 * computes it (there with the sign reversed), so that a search finds the same with and without SQLite.
 */
export function rank(texts: readonly string[], tokens: readonly string[], by: Tokenizer): Hit[] {
  const documents = texts.map((text) => tokensOf(text, by));
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const counts = documents.map((document) => countOf(document, new Set(tokens)));
  const weights = tokens.map((token) => {
    const having = counts.filter((count) => count.has(token)).length;
    const weight = Math.log((documents.length - having + 0.5) / (having + 0.5));
    return weight > 0 ? weight : COMMON;
  });
  return counts
    .flatMap((count, index): Hit[] => {
      if (count.size === 0) return [];
      const length = K1 * (1 - B + (B * (documents[index]?.length ?? 0)) / average);
      const score = tokens.reduce((sum, token, term) => {
        const frequency = count.get(token) ?? 0;
        return sum + (weights[term] ?? 0) * ((frequency * (K1 + 1)) / (frequency + length));
      }, 0);
      return [{ index, score }];
    })
    .toSorted((a, b) => b.score - a.score || b.index - a.index);
}

function countOf(tokens: readonly string[], wanted: ReadonlySet<string>): Map<string, number> {
  const count = new Map<string, number>();
  for (const token of tokens) {
    if (wanted.has(token)) count.set(token, (count.get(token) ?? 0) + 1);
  }
  return count;
}
