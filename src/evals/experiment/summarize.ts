import { addUsage, type TokenUsage } from "../../core/models/request-usage.ts";
import { differenceOf, type PairedScores } from "../statistics/difference.ts";
import { averageOf, type ItemScores, meanOf } from "../statistics/mean.ts";
import type {
  CellResult,
  Comparison,
  ExperimentResult,
  ScoreSummary,
  VariantSummary,
} from "./result.ts";

/** The results of an earlier experiment that later ones are compared with. */
export type EarlierResults = Pick<ExperimentResult, "results">;

export function summarize(
  results: readonly CellResult[],
  variants: readonly string[],
  scorers: readonly string[],
): ExperimentResult["summary"] {
  return Object.fromEntries(
    variants.map((variant) => [variant, summaryOf(cellsOf(results, variant), scorers)]),
  );
}

function summaryOf(cells: readonly CellResult[], scorers: readonly string[]): VariantSummary {
  const seconds = cells.map((cell) => cell.seconds).toSorted((a, b) => a - b);
  const costs = cells.map(({ cost }) => cost);
  const nothing: TokenUsage = { prompt_tokens: 0, completion_tokens: 0 };
  return {
    scores: Object.fromEntries(scorers.map((scorer) => [scorer, scoresOf(cells, scorer)])),
    usage: cells.reduce((sum, { usage }) => addUsage(sum, usage), nothing),
    cost: costs.some((cost) => cost === null)
      ? null
      : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    seconds: { p50: percentile(seconds, 0.5), p95: percentile(seconds, 0.95) },
  };
}

function scoresOf(cells: readonly CellResult[], scorer: string): ScoreSummary {
  const { mean, low, high, n } = meanOf([...byItem(cells, scorer, "score").values()]);
  const passes = [...byItem(cells, scorer, "pass").values()].map(averageOf);
  return { mean, pass_rate: passes.length === 0 ? null : averageOf(passes), low, high, n };
}

/** The verdicts of a scorer by item. Where it gave none, because it failed, there is nothing. */
export function byItem(
  cells: readonly CellResult[],
  scorer: string,
  key: "score" | "pass",
): Map<string, ItemScores> {
  const scores = new Map<string, number[]>();
  for (const cell of cells) {
    const value = cell.scores[scorer]?.[key] ?? null;
    if (value === null) continue;
    const known = scores.get(cell.item) ?? [];
    scores.set(cell.item, [...known, Number(value)]);
  }
  return scores;
}

/**
 * Compares each pair of variants or, with a baseline, the others with it.
 *
 * @param baseline the name of a variant, or earlier results, whose variants are called `NAME@baseline`
 */
export function compare(
  results: readonly CellResult[],
  variants: readonly string[],
  scorers: readonly string[],
  baseline?: string | EarlierResults,
): Comparison[] {
  return pairsOf(variants, baseline).flatMap(({ names, before }) =>
    scorers.map((scorer) => {
      const after = byItem(cellsOf(results, names[1]), scorer, "score");
      const earlier = byItem(before ?? cellsOf(results, names[0]), scorer, "score");
      const pairs = [...after].flatMap(([item, scores]): PairedScores[] => {
        const known = earlier.get(item);
        return known === undefined ? [] : [[known, scores]];
      });
      const { n: _n, ...difference } = differenceOf(pairs);
      return { variants: names, scorer, ...difference };
    }),
  );
}

interface Pair {
  names: Comparison["variants"];
  /** The cells of the first of the two, if they are not among the results. */
  before?: readonly CellResult[];
}

function pairsOf(
  variants: readonly string[],
  baseline: string | EarlierResults | undefined,
): Pair[] {
  if (baseline === undefined) {
    return variants.flatMap((before, index) =>
      variants.slice(index + 1).map((after): Pair => ({ names: [before, after] })),
    );
  }
  if (typeof baseline === "string") {
    const others = variants.filter((name) => name !== baseline);
    return others.map((after) => ({ names: [baseline, after] }));
  }
  const earlier = new Set(baseline.results.map(({ variant }) => variant));
  const [only] = earlier;
  return variants.flatMap((after): Pair[] => {
    const name = earlier.has(after) || earlier.size !== 1 ? after : only;
    if (name === undefined || !earlier.has(name)) return [];
    return [{ names: [`${name}@baseline`, after], before: cellsOf(baseline.results, name) }];
  });
}

function cellsOf(results: readonly CellResult[], variant: string): CellResult[] {
  return results.filter((cell) => cell.variant === variant);
}

/** The smallest value that at least this share of the values does not exceed. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? null;
}
