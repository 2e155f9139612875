import { expect, test } from "vitest";
import { isStated } from "../../answers/stated.ts";

const TASK = "Refund order A7: 1.234,50 EUR\nto  Ann Lee, not the 49.90 of 12 May. 5 000 units.";

test.each([
  ["A7", true],
  ["a7", true],
  ["A", false],
  ["7", false],
  ["ann lee", true],
  ["Ann", true],
  ["An", false],
  ["eur", true],
  ["USD", false],
  ["", true],
  [1234.5, true],
  [49.9, true],
  ["49.90", true],
  [49, true],
  [12, true],
  [499, false],
  [5000, true],
  [true, true],
  [null, true],
])("%j is in the task: %j", (value, stated) => {
  expect(isStated(value, TASK)).toBe(stated);
});

test("a text of the task may go over several lines", () => {
  expect(isStated("EUR to Ann", TASK)).toBe(true);
});
