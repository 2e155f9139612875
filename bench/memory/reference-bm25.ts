import { stemmer } from "stemmer";

/** How a word counts that `having` of `size` texts contain. */
export type Weight = (having: number, size: number) => number;

/** The usual form of Lucene. */
export const luceneWeight: Weight = (having, size) =>
  Math.log(1 + (size - having + 0.5) / (having + 0.5));

/** Plain BM25 over stems, with all words of the query: the indexes of the texts, best first, of equal ones the later. */
export function referenceRanking(
  texts: readonly string[],
  { k1 = 1.2, b = 0.75, weight = luceneWeight } = {},
): (query: string) => number[] {
  const documents = texts.map((text) => {
    const stems = stemsOf(text);
    const counts = new Map<string, number>();
    for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    return { counts, length: stems.length };
  });
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return (query) => {
    const asked = Array.from(new Set(stemsOf(query)), (stem) => {
      const having = documents.filter(({ counts }) => counts.has(stem)).length;
      return { stem, rarity: weight(having, documents.length) };
    });
    return documents
      .map(({ counts, length }, index) => {
        const norm = k1 * (1 - b + (b * length) / average);
        const score = asked.reduce((sum, { stem, rarity }) => {
          const frequency = counts.get(stem) ?? 0;
          return sum + (rarity * frequency * (k1 + 1)) / (frequency + norm);
        }, 0);
        return { score, index };
      })
      .filter(({ score }) => score > 0)
      .toSorted((one, other) => other.score - one.score || other.index - one.index)
      .map(({ index }) => index);
  };
}

function stemsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => stemmer(word));
}
