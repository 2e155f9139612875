import { expect, test } from "vitest";
import { comparison, recordedGoals, worsened } from "../support/check.ts";

const most = { what: "create", unit: "times the bare object", limit: { atMost: 3 } };
const least = { what: "tokens", unit: "times the bare object", limit: { atLeast: 0.5 } };

const PAGE = `<!-- bench:fixed -->
| what   | team  |
|--------|-------|
| create | 7.08  |

| goal   | measured                   | wanted    |     |
|--------|----------------------------|-----------|-----|
| create | 2.88 times the bare object | at most 3 | met |
| rows   | 1,005 rows                 | at most 9 | met |

Measured.
<!-- /bench:fixed -->
`;

test("the check reads the figures of a section's goals from the page, and no other ones", () => {
  expect(recordedGoals(PAGE, "fixed")).toEqual(
    new Map([
      ["create", { value: 2.88, unit: "times the bare object" }],
      ["rows", { value: 1005, unit: "rows" }],
    ]),
  );
  expect(recordedGoals(PAGE, "size").size).toBe(0);
});

test("the check names a figure that is worse than before in each measurement by more than their spread", () => {
  expect(comparison(most, 2, [2.5, 2.6, 2.7])).toBe(
    "create: 2 before, now 2.5 times the bare object (spread 0.2)",
  );
  expect(comparison(least, 1, [0.7, 0.75, 0.8])).toContain("tokens: 1 before, now 0.8");
});

test("the check leaves out a figure within the spread, and one that got better", () => {
  expect(comparison(most, 2, [2.2, 2.6, 2.7])).toBeUndefined();
  expect(comparison(most, 2, [2.05, 2.06, 2.07])).toBeUndefined();
  expect(comparison(most, 2, [1, 1.1, 1.2])).toBeUndefined();
  expect(comparison(least, 1, [2, 2.1, 2.2])).toBeUndefined();
});

test("the check names a figure that the page has in another unit", async () => {
  const goals = [
    { ...most, value: 2.5 },
    { ...most, what: "rows", value: 2.5 },
  ];
  expect(await worsened("fixed", () => Promise.resolve({ goals }), PAGE)).toEqual([
    "fixed, rows: the page has it in rows; measure its table again",
  ]);
});
