/** An entry whose vector is searched elsewhere. No other vector ever has the same row id and batch. */
export interface AwayItem {
  seq: number;
  /** The number of the batch that took it there. */
  batch: number;
}

/** Pairs of numbers as they are stored in a column. */
export function packPairs(pairs: readonly (readonly [number, number])[]): ArrayBuffer {
  return Float64Array.from(pairs.flat()).buffer;
}

export function unpackPairs(body: ArrayBuffer): [number, number][] {
  const numbers = new Float64Array(body);
  return Array.from({ length: numbers.length / 2 }, (_, index) => [
    numbers[2 * index] as number,
    numbers[2 * index + 1] as number,
  ]);
}
