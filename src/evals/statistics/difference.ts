import { fairBinomial, NORMAL_975, studentCdf, studentQuantile } from "./distributions.ts";
import { arePasses, averageOf, isNone, type ItemScores, varianceOf } from "./mean.ts";

/** Below this number of items a comparison says little. */
export const ENOUGH_ITEMS = 20;

/** The scores of one item under two variants. */
export type PairedScores = readonly [before: ItemScores, after: ItemScores];

/** The score of the second variant less that of the first, with its 95 % interval. All are null without an item. */
export interface Difference {
  difference: number | null;
  low: number | null;
  high: number | null;
  /** The probability of a difference as large as this one if the variants do not differ. */
  p: number | null;
  /** The number of items that both variants have scores of. */
  n: number;
  /** False below {@link ENOUGH_ITEMS} items. */
  enough: boolean;
}

/**
 * The difference of two variants on the same items, `after - before`. The unit is the item: its repetitions are averaged first.
 *
 * - One repetition of passes and failures: the mid-p test of McNemar (Fagerland, Lydersen and Laake 2013) and the interval of
 *   Bonett and Price (2012).
 * - Anything else: the paired t test and its interval.
 * - Items that all differ by the same: Bonett and Price's two more items, one better and one worse, for test and interval, because
 *   the differences say nothing of how much they vary.
 */
export function differenceOf(pairs: readonly PairedScores[]): Difference {
  const differences = pairs.map(([before, after]) => averageOf(after) - averageOf(before));
  const n = pairs.length;
  const enough = n >= ENOUGH_ITEMS;
  if (n === 0) return { difference: null, low: null, high: null, p: null, n, enough };
  const difference = averageOf(differences);
  if (arePasses(pairs.flat())) {
    const better = differences.filter((one) => one > 0).length;
    const worse = differences.filter((one) => one < 0).length;
    const p = mcNemar(better, worse);
    return { difference, ...withTwoMore(differences).bounds, p, n, enough };
  }
  const variance = varianceOf(differences);
  if (isNone(variance)) {
    const { bounds, p } = withTwoMore(differences);
    return { difference, ...bounds, p, n, enough };
  }
  const { p, half } = pairedT(difference, variance, n);
  return { difference, ...interval(difference, half), p, n, enough };
}

/** The two-sided mid-p test of McNemar, from the numbers of items that got better and that got worse. */
export function mcNemar(better: number, worse: number): number {
  const discordant = better + worse;
  if (discordant === 0) return 1;
  const fewer = Math.min(better, worse);
  let tail = 0;
  for (let count = 0; count <= fewer; count++) tail += fairBinomial(count, discordant);
  const exact = fewer * 2 === discordant ? 1 : 2 * tail;
  const half = fewer * 2 === discordant ? 0.5 : 1;
  return Math.min(1, exact - half * fairBinomial(fewer, discordant));
}

/** The paired t test, two-sided, and half of the width of its 95 % interval. @param variance more than 0 */
export function pairedT(
  mean: number,
  variance: number,
  n: number,
): { t: number; p: number; half: number } {
  const error = Math.sqrt(variance / n);
  const t = mean / error;
  const p = 2 * studentCdf(-Math.abs(t), n - 1);
  return { t, p, half: studentQuantile(0.975, n - 1) * error };
}

function withTwoMore(differences: readonly number[]): {
  bounds: { low: number; high: number };
  p: number;
} {
  const values = [...differences, 1, -1];
  const center = averageOf(values);
  const squares = values.reduce((sum, value) => sum + value ** 2, 0) / values.length;
  const error = Math.sqrt((squares - center ** 2) / values.length);
  return {
    bounds: interval(center, NORMAL_975 * error),
    // The degrees of freedom that the items would have by themselves; a single item has none.
    p: 2 * studentCdf(-Math.abs(center / error), Math.max(1, differences.length - 1)),
  };
}

function interval(center: number, half: number): { low: number; high: number } {
  return { low: Math.max(-1, center - half), high: Math.min(1, center + half) };
}
