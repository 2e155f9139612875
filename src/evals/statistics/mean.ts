import { NORMAL_975, studentQuantile } from "./distributions.ts";

/** The scores of one item: one for each repetition. */
export type ItemScores = readonly number[];

/** A mean over items with its 95 % interval. All are null without an item. */
export interface Mean {
  mean: number | null;
  low: number | null;
  high: number | null;
  /** The number of items. */
  n: number;
}

/**
 * The mean of scores between 0 and 1, and its 95 % interval. The unit is the item: its repetitions are averaged first.
 *
 * - One repetition of passes and failures: Wilson's score interval (Wilson 1927).
 * - Anything else: Wilson's interval for the effective number of items, which is the number of passes and failures that would vary
 *   as much as the means of the items do, with the quantile of Student's t (Dean and Pagano 2015, for clustered samples). Unlike an
 *   interval of t alone, it stays between 0 and 1, and leans where scores are near a border.
 * - Items that all have the same mean say nothing of how much items vary. They count as passes and failures of that mean, which
 *   vary most.
 */
export function meanOf(items: readonly ItemScores[]): Mean {
  const values = items.map(averageOf);
  const n = values.length;
  if (n === 0) return { mean: null, low: null, high: null, n };
  const mean = averageOf(values);
  if (arePasses(items)) return { mean, ...wilson(mean, n, NORMAL_975), n };
  const variance = varianceOf(values);
  const most = mean * (1 - mean);
  if (isNone(variance) || isNone(most)) return { mean, ...wilson(mean, n, NORMAL_975), n };
  const effective = Math.min((n * most) / variance, MOST_EFFECTIVE * n);
  return { mean, ...wilson(mean, effective, studentQuantile(0.975, n - 1)), n };
}

/** The most items that one may count for, so that items which hardly differ do not make an interval without width. */
const MOST_EFFECTIVE = 10_000;

/** True if each item has one score, which is 0 or 1. */
export function arePasses(items: readonly ItemScores[]): boolean {
  return items.every((scores) => scores.length === 1 && (scores[0] === 0 || scores[0] === 1));
}

export function averageOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The variance of a sample; 0 for a single value. */
export function varianceOf(values: readonly number[]): number {
  const mean = averageOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return values.length > 1 ? squares / (values.length - 1) : 0;
}

/** True for a variance that only comes from rounding. */
export function isNone(variance: number): boolean {
  return variance < 1e-20;
}

function wilson(share: number, n: number, quantile: number): { low: number; high: number } {
  const square = quantile ** 2;
  const center = (share + square / (2 * n)) / (1 + square / n);
  const half =
    (quantile * Math.sqrt((share * (1 - share)) / n + square / (4 * n * n))) / (1 + square / n);
  return { low: Math.max(0, center - half), high: Math.min(1, center + half) };
}
