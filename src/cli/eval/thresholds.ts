import * as z from "zod";
import type { Issue } from "../terminal/errors.ts";
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

/** The names that thresholds can use. */
interface Names {
  variants: readonly string[];
  scorers: readonly string[];
  /** The variant with which the others are compared. */
  baseline?: string | undefined;
  /** True if there are results of an earlier run to compare with. */
  hasEarlier: boolean;
}

/** The mistakes in thresholds, before anything runs: their names, and drops that nothing is compared with. */
export function thresholdIssues(
  thresholds: readonly Threshold[],
  { variants, scorers, baseline, hasEarlier }: Names,
): Issue[] {
  return thresholds.flatMap(({ scorer, variant, drop }, index) => {
    const issues: Issue[] = [];
    const issue = (key: string, message: string): void => {
      issues.push({ path: `thresholds[${index}].${key}`, message });
    };
    if (!scorers.includes(scorer)) issue("scorer", `must be one of ${scorers.join(", ")}`);
    if (variant !== undefined && !variants.includes(variant)) {
      issue("variant", `must be one of ${variants.join(", ")}`);
    }
    if (drop !== undefined && baseline === undefined && !hasEarlier) {
      issue("drop", "needs a baseline: give one in the file, or with --baseline");
    }
    return issues;
  });
}

/**
 * Checks a result.
 *
 * @param baseline the variant that thresholds without a variant are not for
 */
export function checkThresholds(
  { summary, comparisons }: ExperimentResult,
  thresholds: readonly Threshold[],
  baseline?: string,
): CheckedThreshold[] {
  const candidates = Object.keys(summary).filter((name) => name !== baseline);
  return thresholds.flatMap((threshold) => {
    const { scorer, variant, drop } = threshold;
    return (variant === undefined ? candidates : [variant]).flatMap((name) => {
      const scores = summary[name]?.scores[scorer];
      const checked = (["mean", "pass_rate", "low"] as const).flatMap((key): CheckedThreshold[] => {
        const least = threshold[key];
        if (least === undefined) return [];
        const value = scores?.[key] ?? null;
        const isMet = value !== null && value >= least;
        const found = value === null ? "unknown" : shown(value);
        return [
          {
            name: `${name}: ${key} of ${scorer} is at least ${least}`,
            missed: isMet ? undefined : `it is ${found}`,
          },
        ];
      });
      return drop === undefined ? checked : [...checked, ...drops(name, scorer, drop, comparisons)];
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
    const missed = "the baseline has no such variant";
    return [{ name: `${name}: ${scorer} is not below the baseline by more than ${drop}`, missed }];
  }
  return found.map(({ variants: [before], difference, low, high }) => {
    const title = `${name}: ${scorer} is not below ${before} by more than ${drop}`;
    if (high === null || low === null || difference === null) {
      return { name: title, missed: "the difference is unknown" };
    }
    const missed = `the difference is ${shown(difference)} [${shown(low)}, ${shown(high)}]`;
    return { name: title, missed: high < -drop ? missed : undefined };
  });
}

function shown(value: number): string {
  return value.toFixed(3);
}
