import { describe, expect, test } from "vitest";
import { pythonDataClass, pythonRepr, pythonStr } from "#core/text/python.ts";

describe("pythonRepr", () => {
  test.each([
    ["plain", "'plain'"],
    ["it's", `"it's"`],
    [`it's "so"`, `'it\\'s "so"'`],
    ["a\n\t\\b", String.raw`'a\n\t\\b'`],
    ["\u0007é\u200b\u{e0001}😀", String.raw`'\x07é\u200b\U000e0001😀'`],
    [null, "None"],
    [true, "True"],
    [false, "False"],
    [3, "3"],
    [2.5, "2.5"],
    [0.00001, "1e-05"],
    [[], "[]"],
    [["a", 1, [null]], "['a', 1, [None]]"],
    [{ k: "v", n: { b: true } }, "{'k': 'v', 'n': {'b': True}}"],
  ])("prints %j as %s", (value, printed) => {
    expect(pythonRepr(value)).toBe(printed);
  });
});

test("a string by itself is printed without quotes, other values as in a list", () => {
  expect(pythonStr("it's")).toBe("it's");
  expect(pythonStr(["it's", null])).toBe(`["it's", None]`);
});

test("an object of a data class names its fields in the given order", () => {
  expect(pythonDataClass("FunctionCall", { id: "1", arguments: "{}", name: "f" })).toBe(
    "FunctionCall(id='1', arguments='{}', name='f')",
  );
});
