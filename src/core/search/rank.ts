import { type Tokenizer, tokensOf } from "./tokens.ts";

/** A text that was found: which one, and how well it fits (more is better). */
export interface Hit {
  index: number;
  score: number;
}

const K1 = 1.2;
const B = 0.75;
/** What a token counts that half of the texts or more have. */
const COMMON = 1e-6;
/** A search's time grows with their square, and the common ones count next to nothing. */
const MOST_TOKENS = 32;

/**
 * The tokens a search is made with: those that any text has, the rarest first, of equal ones as they come.
 *
 * @param textsWith how many texts have a token
 */
export function rarest(
  tokens: Iterable<string>,
  textsWith: (token: string) => number,
): { token: string; having: number }[] {
  return Array.from(tokens, (token) => ({ token, having: textsWith(token) }))
    .filter(({ having }) => having > 0)
    .toSorted((a, b) => a.having - b.having)
    .slice(0, MOST_TOKENS);
}

/**
 * The texts that hold one of `tokens`, best first, of equal ones the later first. The score is BM25 as SQLite's FTS5
 * computes it (there with the sign reversed), so that a search finds the same with and without SQLite.
 */
export function rank(texts: readonly string[], tokens: Iterable<string>, by: Tokenizer): Hit[] {
  const documents = texts.map((text) => tokensOf(text, by));
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const wanted = new Set(tokens);
  const counts = documents.map((document) => countOf(document, wanted));
  const weighted = rarest(wanted, (token) => counts.filter((count) => count.has(token)).length).map(
    ({ token, having }) => {
      const weight = Math.log((documents.length - having + 0.5) / (having + 0.5));
      return { token, weight: weight > 0 ? weight : COMMON };
    },
  );
  return counts
    .flatMap((count, index): Hit[] => {
      if (!weighted.some(({ token }) => count.has(token))) return [];
      const length = K1 * (1 - B + (B * (documents[index]?.length ?? 0)) / average);
      const score = weighted.reduce((sum, { token, weight }) => {
        const frequency = count.get(token) ?? 0;
        return sum + weight * ((frequency * (K1 + 1)) / (frequency + length));
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
