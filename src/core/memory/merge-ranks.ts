/** The usual constant of reciprocal rank fusion: the higher, the less the first places count. */
const SMOOTHING = 60;

/**
 * Merges rankings of the same things, best first, by reciprocal rank: an item's score is the sum of `1 / (60 + place)`
 * over the rankings that have it. Of equal scores the one of the earlier ranking comes first.
 */
export function merged<Item>(rankings: readonly (readonly Item[])[]): [Item, number][] {
  const scores = new Map<Item, number>();
  for (const ranking of rankings) {
    for (const [index, item] of ranking.entries()) {
      scores.set(item, (scores.get(item) ?? 0) + 1 / (SMOOTHING + index + 1));
    }
  }
  return [...scores].toSorted(([, a], [, b]) => b - a);
}

/** The cosine similarity of two vectors, -1 to 1; 0 if one of them is zero. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (const [index, x] of a.entries()) {
    const y = b[index] ?? 0;
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB);
}
