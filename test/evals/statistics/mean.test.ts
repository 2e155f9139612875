import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { studentCdf, studentQuantile } from "#evals/statistics/distributions.ts";
import { meanOf } from "#evals/statistics/mean.ts";

const passes = (passed: number, of: number): number[][] =>
  Array.from({ length: of }, (_, index) => [index < passed ? 1 : 0]);

describe("Student's t", () => {
  // Fisher and Yates, Statistical Tables (1963), table III, 5 % two-sided.
  test.each([
    [1, 12.706],
    [2, 4.303],
    [9, 2.262],
    [29, 2.045],
    [120, 1.98],
  ])("has the quantile of the tables for %i degrees of freedom", (degrees, value) => {
    expect(studentQuantile(0.975, degrees)).toBeCloseTo(value, 3);
    expect(studentQuantile(0.025, degrees)).toBeCloseTo(-value, 3);
    expect(studentCdf(0, degrees)).toBe(0.5);
  });
});

describe("the interval of a pass rate", () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("is Wilson's: %i of %i", (passed, n, low, high) => {
    const found = meanOf(passes(passed, n));
    expect(found).toMatchObject({ mean: passed / n, n });
    expect(found.low).toBeCloseTo(low, 4);
    expect(found.high).toBeCloseTo(high, 4);
  });
});

describe("repetitions", () => {
  test("repetitions that are equal tell no more than one", () => {
    const once = meanOf([...passes(24, 30)]);
    const often = meanOf(passes(24, 30).map(([score = 0]) => [score, score, score, score, score]));
    expect(often.n).toBe(30);
    expect((often.high ?? 0) - (often.low ?? 0)).toBeGreaterThan(
      (once.high ?? 0) - (once.low ?? 0) - 0.01,
    );
  });

  test("an item with more repetitions does not count for more", () => {
    expect(meanOf([[1], [0, 0, 0, 0]]).mean).toBe(0.5);
  });
});

test("an interval has a width, lies between 0 and 1 and around the mean", () => {
  const score = fc.oneof(fc.constantFrom(0, 1, 0.7), fc.double({ min: 0, max: 1, noNaN: true }));
  const items = fc.array(fc.array(score, { minLength: 1, maxLength: 3 }), { minLength: 1 });
  fc.assert(
    fc.property(items, (given) => {
      const { mean, low, high } = meanOf(given);
      expect(high).toBeGreaterThan(low ?? 1);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(mean).toBeGreaterThanOrEqual((low ?? 1) - 1e-9);
      expect(mean).toBeLessThanOrEqual((high ?? 0) + 1e-9);
    }),
  );
});

test("nothing has no mean", () => {
  expect(meanOf([])).toEqual({ mean: null, low: null, high: null, n: 0 });
});
