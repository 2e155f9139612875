import { expect, test } from "vitest";
import { mutated, mutationsOf } from "../../scripts/mutants/mutations.mjs";

const mutants = (code: string): string[] =>
  mutationsOf("a.ts", code).map((mutation) => mutated(code, mutation));

test("conditions, operators, booleans and statements with effects are changed, one at a time", () => {
  expect(mutants("if (a < b) go();")).toEqual([
    "if (!(a < b)) go();",
    "if (a <= b) go();",
    "if (a < b) ;",
  ]);
  expect(mutants("x = a === 1 && b ? true : c;")).toEqual([
    ";",
    "x = !(a === 1 && b) ? true : c;",
    "x = a !== 1 && b ? true : c;",
    "x = a === 1 || b ? true : c;",
    "x = a === 1 && b ? false : c;",
  ]);
});

test("types and the code inside an assertion are not changed", () => {
  expect(mutants("const a: true = b as unknown as { c?: true };")).toEqual([]);
  expect(mutants("const a = (b || c) as boolean;")).toEqual(["const a = (b && c) as boolean;"]);
});
