import { describe, expect, inject, test } from "vitest";
import { differenceOf, type PairedScores } from "#evals/statistics/difference.ts";
import { type ItemScores, meanOf } from "#evals/statistics/mean.ts";
import { Draws } from "./draws.ts";

const ITEMS = 100;
const EXPERIMENTS = inject("allCases") ? 10_000 : 1_000;

/** Five repetitions of an item: most have its level, the others are drawn without it. */
function fiveAround(draws: Draws, level: number, draw: () => number): number[] {
  return Array.from({ length: 5 }, () => (draws.pass(0.6) === 1 ? level : draw()));
}

/** The shares of experiments whose interval has the true value. */
function coverage<Item>(
  seed: number,
  item: (draws: Draws) => Item,
  covers: (items: Item[]) => boolean,
): number {
  const draws = new Draws(seed);
  let covered = 0;
  for (let count = 0; count < EXPERIMENTS; count++) {
    if (covers(Array.from({ length: ITEMS }, () => item(draws)))) covered++;
  }
  return covered / EXPERIMENTS;
}

const scores: [name: string, truth: number, draw: (draws: Draws) => number][] = [
  ["passes of 50 %", 0.5, (draws) => draws.pass(0.5)],
  ["passes of 90 %", 0.9, (draws) => draws.pass(0.9)],
  ["uniform scores", 0.5, (draws) => draws.uniform()],
  ["full scores of 80 %, else uniform", 0.9, (draws) => draws.mostlyFull()],
];

const repetitions: [name: string, repeat: (draws: Draws, draw: () => number) => ItemScores][] = [
  ["one repetition", (_, draw) => [draw()]],
  ["five equal repetitions", (_, draw) => Array.from<number>({ length: 5 }).fill(draw())],
  ["five repetitions around a level", (draws, draw) => fiveAround(draws, draw(), draw)],
];

describe.each(scores)("the interval of the mean of %s", (_name, truth, draw) => {
  test.each(repetitions)(
    "covers it in 92 to 98 of 100 experiments with %s",
    (_repeated, repeat) => {
      const share = coverage(
        1,
        (draws) => repeat(draws, () => draw(draws)),
        (items) => {
          const { low, high } = meanOf(items);
          return low !== null && high !== null && low <= truth && truth <= high;
        },
      );
      expect(share).toBeGreaterThanOrEqual(0.92);
      expect(share).toBeLessThanOrEqual(0.98);
    },
  );
});

const differences: [name: string, truth: number, draw: (draws: Draws) => PairedScores][] = [
  ["independent passes", -0.1, (draws) => [[draws.pass(0.9)], [draws.pass(0.8)]]],
  [
    "passes, of which one variant has more",
    0.1,
    (draws) => {
      const before = draws.pass(0.5);
      return [[before], [Math.max(before, draws.pass(0.2))]];
    },
  ],
  ["full scores, else uniform", 0, (draws) => [[draws.mostlyFull()], [draws.mostlyFull()]]],
  [
    "five repetitions that share a level",
    0,
    (draws) => {
      const level = draws.mostlyFull();
      const repeat = (): number[] => fiveAround(draws, level, () => draws.mostlyFull());
      return [repeat(), repeat()];
    },
  ],
];

test.each(differences)(
  "the interval of a difference covers it in 92 to 98 of 100 experiments: %s",
  (_name, truth, draw) => {
    const share = coverage(2, draw, (pairs) => {
      const { low, high } = differenceOf(pairs);
      return low !== null && high !== null && low <= truth && truth <= high;
    });
    expect(share).toBeGreaterThanOrEqual(0.92);
    expect(share).toBeLessThanOrEqual(0.98);
  },
);
