import * as z from "zod";
import type { ExperimentResult } from "../../evals/experiment/result.ts";

const share = z.number().min(0).max(1).optional();

const thresholdSchema = z
  .strictObject({
    scorer: z.string(),
    /** Default: all variants but the baseline. */
    variant: z.string().optional(),
    /** The smallest mean score. */
    mean: share,
    pass_rate: share,
    /** The smallest lower end of the interval of the mean. */
    low: share,
    /** Fails where the mean is lower than that of the baseline by more than this, beyond doubt: by the whole interval. */
    drop: share,
  })
  .refine(
    ({ mean, pass_rate, low, drop }) =>
      [mean, pass_rate, low, drop].some((one) => one !== undefined),
    {
      error: "needs at least one of mean, pass_rate, low and drop",
    },
  );
export type Threshold = z.infer<typeof thresholdSchema>;

export const thresholdsSchema = z.array(thresholdSchema);

/** A threshold for one variant. */
export interface CheckedThreshold {
  name: string;
  /** Undefined where it is met. */
  missed: string | undefined;
}

/** @throws Error for a scorer, a variant or a comparison that the result does not have */
export function verdictsOn(
  { summary, comparisons }: ExperimentResult,
  thresholds: readonly Threshold[],
): CheckedThreshold[] {
  const baselines = new Set(comparisons.map(({ variants: [before] }) => before));
  const compared = new Set(comparisons.map(({ variants: [, after] }) => after));
  const candidates = Object.keys(summary).filter(
    (name) => !baselines.has(name) || compared.has(name),
  );
  return thresholds.flatMap((threshold) => {
    const { scorer, variant, drop } = threshold;
    return (variant === undefined ? candidates : [variant]).flatMap((name) => {
      const scores = summary[name]?.scores[scorer];
      if (scores === undefined) {
        throw new Error(
          `a threshold names the scorer "${scorer}" of the variant "${name}", which the result does not have`,
        );
      }
      const verdicts = (["mean", "pass_rate", "low"] as const).flatMap(
        (key): CheckedThreshold[] => {
          const least = threshold[key];
          if (least === undefined) return [];
          const value = scores[key];
          const isMet = value !== null && value >= least;
          const found = value === null ? "unknown" : shown(value);
          return [
            {
              name: `${name}: ${key} of ${scorer} is at least ${least}`,
              missed: isMet ? undefined : `it is ${found}`,
            },
          ];
        },
      );
      return drop === undefined
        ? verdicts
        : [...verdicts, ...drops(name, scorer, drop, comparisons)];
    });
  });
}

function drops(
  name: string,
  scorer: string,
  drop: number,
  comparisons: ExperimentResult["comparisons"],
): CheckedThreshold[] {
  const found = comparisons.filter((one) => one.variants[1] === name && one.scorer === scorer);
  if (found.length === 0) {
    throw new Error(
      `a threshold has "drop" for the variant "${name}", which is compared with nothing: give a baseline`,
    );
  }
  return found.map(({ variants: [before], difference, low, high }) => ({
    name: `${name}: ${scorer} is not below ${before} by more than ${drop}`,
    missed:
      high === null || low === null || difference === null
        ? "the difference is unknown"
        : high < -drop
          ? `the difference is ${shown(difference)} [${shown(low)}, ${shown(high)}]`
          : undefined,
  }));
}

function shown(value: number): string {
  return value.toFixed(3);
}
