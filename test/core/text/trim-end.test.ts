import { trimEnd } from "#core/text/trim-end.ts";
import { expect, test } from "vitest";

test("all copies of one character are removed from the end", () => {
  expect(trimEnd("/a//b///", "/")).toBe("/a//b");
  expect(trimEnd("///", "/")).toBe("");
  expect(trimEnd("", "/")).toBe("");
});

test("the removal takes linear time", () => {
  const text = `${"/".repeat(1_000_000)}x`;
  expect(trimEnd(text, "/")).toBe(text);
});
