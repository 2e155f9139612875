import { describe, expect, test } from "vitest";
import { onOneLine, withoutTrailingSpace } from "#core/text/python-space.ts";

describe("whitespace as Python sees it", () => {
  test("is cut at the end of a text, all kinds of it", () => {
    expect(withoutTrailingSpace(" a b \t\n\x1c\x85\u00a0\u3000")).toBe(" a b");
    expect(withoutTrailingSpace("a\ufeff\n")).toBe("a\ufeff");
    expect(withoutTrailingSpace("\n \n")).toBe("");
  });

  test("is one blank on one line", () => {
    expect(onOneLine("\n a\r\n  b\x1f\u2003c ")).toBe("a b c");
    expect(onOneLine("a\ufeffb")).toBe("a\ufeffb");
    expect(onOneLine(" ")).toBe("");
  });
});
