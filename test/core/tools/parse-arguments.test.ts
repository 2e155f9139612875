import { describe, expect, test } from "vitest";
import { parseArguments } from "#core/agents/assistant/tool-calls.ts";

describe("the reader of a model's arguments", () => {
  test.each(["", "  \n", "{}", "null", "[]", '""', "0", "false"])(
    "reads %j as no arguments",
    (text) => {
      expect(parseArguments(text)).toEqual({ args: {} });
    },
  );

  test("reads an object as itself", () => {
    expect(parseArguments(' {"a": [1, {"b": null}]} ')).toEqual({ args: { a: [1, { b: null }] } });
  });

  test.each(["[1]", "5", '"x"', "true"])("refuses %s, which is not an object", (text) => {
    expect(parseArguments(text)).toEqual({
      error: "Error: the arguments of a tool call must be a JSON object",
    });
  });

  test.each([
    ["this is not json", "Expecting value: line 1 column 1 (char 0)"],
    ['{"a": 1 "b": 2}', "Expecting ',' delimiter: line 1 column 9 (char 8)"],
    ['{"reason": "oops', "Unterminated string starting at: line 1 column 12 (char 11)"],
    ['{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"],
    ["{a: 1}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"],
    ['{"a": 1,}', "Expecting property name enclosed in double quotes: line 1 column 9 (char 8)"],
    ['{"a": }', "Expecting value: line 1 column 7 (char 6)"],
    ['{"a": [1,\n 2,]}', "Expecting value: line 2 column 4 (char 13)"],
    ["{} {}", "Extra data: line 1 column 4 (char 3)"],
    ['{"a": "b\nc"}', "Invalid control character at: line 1 column 9 (char 8)"],
    ['{"a": "\\x"}', "Invalid \\escape: line 1 column 8 (char 7)"],
    ['{"a": "\\u12"}', "Invalid \\uXXXX escape: line 1 column 9 (char 8)"],
    ['{"a": NaN}', "Expecting value: line 1 column 7 (char 6)"],
    ['{"a": 01}', "Expecting ',' delimiter: line 1 column 8 (char 7)"],
    ["{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"],
    ['{"a": "\\', "Unterminated string starting at: line 1 column 7 (char 6)"],
  ])("reads %j as %s", (text, message) => {
    expect(parseArguments(text)).toEqual({ error: `Error: ${message}` });
  });
});
