import { expect, test } from "vitest";
import { distinctMessages } from "../../scripts/check/types.mjs";

test("an error that several projects find is one message, with the lines that explain it", () => {
  const wrong =
    "src/core/cut.ts(1,7): error TS2322: Type 'A' is not assignable to type 'B'.\n  Types of property 'c' are incompatible.\n";
  const other = "src/core/json.ts(2,1): error TS2304: Cannot find name 'd'.\n";
  expect(distinctMessages(wrong + other + wrong)).toEqual([wrong.trimEnd(), other.trimEnd()]);
  expect(distinctMessages("")).toEqual([]);
});
