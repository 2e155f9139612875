/** Up to three of `names` that `name` may be a misspelling of, best first. */
export function nearMatches(name: string, names: Iterable<string>): string[] {
  const wanted = shortName(name);
  const limit = Math.max(2, Math.floor(wanted.length / 4));
  return [...names]
    .map((candidate) => ({
      candidate,
      distance: editDistance(wanted, shortName(candidate), limit),
    }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/**
 * Module names are copied, class names are typed: only class names are compared, truncated so that the input bounds the
 * work.
 */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1, 100 + name.lastIndexOf(".")).toLowerCase();
}

/** Letters to insert, delete or replace (Levenshtein); any number above `limit` means too many. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
