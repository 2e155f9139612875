import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differenceOf, mcNemar, pairedT, type PairedScores } from "#evals/statistics/difference.ts";
import { averageOf, varianceOf } from "#evals/statistics/mean.ts";

const times = (count: number, before: number, after: number): PairedScores[] =>
  Array.from({ length: count }, () => [[before], [after]]);

describe("passes and failures", () => {
  // Bentur et al. (2009): hyper-responsive airways of 21 children before and after a transplantation, in Fagerland, Lydersen and
  // Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research Methodology 13:91 (2013): mid-p 0.039; the
  // interval after Bonett and Price, Journal of Educational and Behavioral Statistics 37 (2012): (7 + 1 - 1 - 1) / 23 and so on.
  test("are compared as in the study of Bentur and others", () => {
    const children = [...times(1, 1, 1), ...times(1, 1, 0), ...times(7, 0, 1), ...times(12, 0, 0)];
    const { difference, low, high, p, n, enough } = differenceOf(children);
    expect({ n, enough }).toEqual({ n: 21, enough: true });
    expect(difference).toBeCloseTo(8 / 21 - 2 / 21, 10);
    expect(p).toBeCloseTo(0.039, 3);
    expect(low).toBeCloseTo(0.0134, 4);
    expect(high).toBeCloseTo(0.5084, 4);
  });

  test("have the mid-p of the binomial distribution", () => {
    // 2 * (1 + 8) / 256 is the exact test, from which the probability of 1 of 8 is subtracted.
    expect(mcNemar(1, 7)).toBeCloseTo(18 / 256 - 8 / 256, 12);
    expect(mcNemar(4, 4)).toBeCloseTo(1 - 70 / 256 / 2, 12);
    expect(mcNemar(0, 0)).toBe(1);
  });
});

describe("scores", () => {
  // Student, "The probable error of a mean", Biometrika 6 (1908): additional hours of sleep by two drugs. R's manual has it as
  // t.test(extra ~ group, data = sleep, paired = TRUE): t = -4.0621, df = 9, p-value = 0.002833, interval -2.4598858 to -0.7001142.
  test("are compared by the paired t test, as in Student's example", () => {
    const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
    const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    const differences = second.map((hours, patient) => hours - (first[patient] ?? 0));
    const mean = averageOf(differences);
    const { t, p, half } = pairedT(mean, varianceOf(differences), 10);
    expect(t).toBeCloseTo(4.0621, 4);
    expect(p).toBeCloseTo(0.002833, 6);
    expect(mean - half).toBeCloseTo(0.7001142, 7);
    expect(mean + half).toBeCloseTo(2.4598858, 7);

    // The same in scores: a twentieth of an hour does not change the test.
    const score = (hours: number): number[] => [(hours + 5) / 20];
    const pairs = first.map((hours, patient): PairedScores => [
      score(hours),
      score(second[patient] ?? 0),
    ]);
    const found = differenceOf(pairs);
    expect(found.p).toBeCloseTo(0.002833, 6);
    expect(found.low).toBeCloseTo(0.7001142 / 20, 8);
    expect(found).toMatchObject({ n: 10, enough: false });
  });

  test("repetitions are averaged before they are compared", () => {
    const pairs: PairedScores[] = [
      [
        [0, 1],
        [1, 1],
      ],
      [
        [0, 0],
        [0, 1],
      ],
      [
        [1, 1],
        [1, 1],
      ],
    ];
    const averages: PairedScores[] = [
      [[0.5], [1]],
      [[0], [0.5]],
      [[1], [1]],
    ];
    expect(differenceOf(pairs)).toEqual(differenceOf(averages));
  });

  test("equal differences prove little, for one item or for three", () => {
    for (const pairs of [times(1, 0.5, 0.7), times(3, 0.5, 0.7)]) {
      const { difference, low, high, p } = differenceOf(pairs);
      expect(difference).toBeCloseTo(0.2, 10);
      expect(low).toBeLessThan(0);
      expect(high).toBeGreaterThan(0.2);
      expect(p).toBeGreaterThan(0.5);
    }
  });
});

test("the interval of a difference has a width and lies between -1 and 1, whatever the scores", () => {
  const score = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
  const scores = fc.array(score, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(scores, scores), { minLength: 1 }), (pairs) => {
      const { low, high, p } = differenceOf(pairs);
      expect(high).toBeGreaterThan(low ?? 1);
      expect(low).toBeGreaterThanOrEqual(-1);
      expect(high).toBeLessThanOrEqual(1);
      expect(p).toBeGreaterThanOrEqual(0);
      expect(p).toBeLessThanOrEqual(1);
    }),
  );
});

test.each([
  [19, false],
  [20, true],
])("%i items are enough: %s", (items, enough) => {
  expect(differenceOf(times(items, 0, 1)).enough).toBe(enough);
});

test("nothing has no difference", () => {
  expect(differenceOf([])).toMatchObject({ difference: null, p: null, n: 0, enough: false });
});
