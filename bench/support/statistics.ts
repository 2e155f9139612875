/** The value in the middle; of an even number the higher of the two. @throws RangeError for an empty list */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value that `share` (0 to 1) of the others do not exceed. @throws RangeError for an empty list */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("there is nothing to take a percentile of");
  return value;
}
