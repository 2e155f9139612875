import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addDurations, durationsOf, NO_DURATIONS, percentileOf } from "#tenant/usage/durations.ts";

const milliseconds = fc.oneof(
  fc.integer({ min: 1, max: 1_000 }),
  fc.integer({ min: 1, max: 30 * 86_400_000 }),
);

test("a percentile is within 2 % of the exact one, also of several days together", () => {
  fc.assert(
    fc.property(
      fc.array(milliseconds, { minLength: 1, maxLength: 300 }),
      fc.array(milliseconds, { maxLength: 300 }),
      fc.constantFrom(0.01, 0.5, 0.95, 1),
      (one, other, share) => {
        const day = (all: readonly number[]) =>
          all.map(durationsOf).reduce(addDurations, NO_DURATIONS);
        const estimate = percentileOf(addDurations(day(one), day(other)), share) ?? NaN;
        const all = [...one, ...other].toSorted((a, b) => a - b);
        const exact = all[Math.ceil(share * all.length) - 1] ?? NaN;
        expect(Math.abs(estimate - exact) / exact).toBeLessThan(0.02);
      },
    ),
  );
});

test("runs that took less than a millisecond took no time, and no runs have no percentile", () => {
  expect(percentileOf(durationsOf(0), 0.5)).toBe(0);
  expect(percentileOf(NO_DURATIONS, 0.5)).toBeNull();
});
