/**
 * The durations of runs, as counts of buckets. The bound of each bucket is 3 % above that of the one before, so a percentile is at
 * most 1.5 % away from the exact one, and the counts of several days add up.
 */
export type Durations = Readonly<Record<string, number>>;

const GROWTH = 1.03;
/** The middle of a bucket as a share of its upper bound: equally far from both of its bounds, relative to them. */
const MIDDLE = 2 / (GROWTH + 1);

export const NO_DURATIONS: Durations = {};

export function durationsOf(milliseconds: number): Durations {
  return { [bucketOf(milliseconds)]: 1 };
}

export function addDurations(one: Durations, other: Durations): Durations {
  const sum: Record<string, number> = { ...one };
  for (const [bucket, count] of Object.entries(other)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

/** The duration in milliseconds that at least this share of the runs does not exceed; null without runs. */
export function percentileOf(durations: Durations, share: number): number | null {
  const buckets = Object.entries(durations)
    .map(([bucket, count]): [number, number] => [Number(bucket), count])
    .toSorted(([one], [other]) => one - other);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(share * total));
  for (const [bucket, count] of buckets) {
    left -= count;
    if (left <= 0) return middleOf(bucket);
  }
  return null;
}

/** Bucket 0 has what took less than a millisecond, the others are counted from 1. */
function bucketOf(milliseconds: number): number {
  if (milliseconds < 1) return 0;
  return 1 + Math.ceil(Math.log(milliseconds) / Math.log(GROWTH));
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : MIDDLE * GROWTH ** (bucket - 1);
}
