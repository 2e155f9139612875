import { trimEnd } from "#core/text/trim-end.ts";
import { expect, test } from "vitest";

test("removes all of one character from the end", () => {
  expect(trimEnd("/a//b///", "/")).toBe("/a//b");
  expect(trimEnd("///", "/")).toBe("");
  expect(trimEnd("", "/")).toBe("");
});

test("takes linear time", () => {
  const text = `${"/".repeat(1_000_000)}x`;
  expect(trimEnd(text, "/")).toBe(text);
});
