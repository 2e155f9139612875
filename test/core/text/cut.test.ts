import { expect, test } from "vitest";
import { beginningOf, endOf } from "#core/cut.ts";

test("a text is cut between characters", () => {
  const owls = "a🦉🦉b";
  expect([0, 1, 2, 3, 4, 5, 6, 9, -1].map((length) => beginningOf(owls, length))).toEqual([
    "",
    "a",
    "a",
    "a🦉",
    "a🦉",
    "a🦉🦉",
    owls,
    owls,
    "",
  ]);
  expect([0, 1, 2, 3, 4, 5, 6, 9, -1].map((length) => endOf(owls, length))).toEqual([
    "",
    "b",
    "b",
    "🦉b",
    "🦉b",
    "🦉🦉b",
    owls,
    owls,
    "",
  ]);
});

test("a text that already contains half a character is cut no further", () => {
  expect(beginningOf("\ud83ex", 1)).toBe("\ud83e");
  expect(endOf("x\udd89", 1)).toBe("\udd89");
});
