import { expect, test } from "vitest";
import {
  bytesOf,
  costOf,
  durationOf,
  setCurrency,
  shareOf,
  tokensOf,
  usageText,
} from "../../parts/numbers.ts";

test.each([
  [-5, "0 ms"],
  [340.4, "340 ms"],
  [1_000, "1 s"],
  [2_512, "2.51 s"],
  [12_345, "12.3 s"],
  [59_960, "1 min"],
  [184_000, "3 min 4 s"],
  [3_600_000, "1 h"],
  [2 * 86_400_000 + 5 * 3_600_000 + 60_000, "2 d 5 h"],
])("%d ms are shown by their two largest units", (ms, text) => {
  expect(durationOf(ms)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1 KB"],
  [1_230_000, "1.23 MB"],
  [5e12, "5,000 GB"],
])("%d bytes are shown in the largest unit", (bytes, text) => {
  expect(bytesOf(bytes)).toBe(text);
});

test("tokens are counted together, with the details that are available", () => {
  expect(tokensOf({ prompt_tokens: 1, completion_tokens: 0 })).toBe("1 token");
  expect(tokensOf({ prompt_tokens: 1_000, completion_tokens: 234 })).toBe("1.23K tokens");
  const usage = { prompt_tokens: 12_000, completion_tokens: 340 };
  expect(usageText(usage)).toBe("12K in, 340 out");
  const details = { cached_tokens: 9_100, reasoning_tokens: 120, estimated_tokens: 40 };
  expect(usageText({ ...usage, ...details })).toBe(
    "12K in (9.1K cached), 340 out (120 reasoning), 40 of them estimated",
  );
});

test("costs have their currency, and small ones their digits", () => {
  expect([costOf(0.000_118), costOf(12.345)]).toEqual(["0.000118", "12.3"]);
  setCurrency("EUR");
  expect([costOf(0.000_118), costOf(0), costOf(1234.567)]).toEqual([
    "€0.000118",
    "€0.00",
    "€1,234.57",
  ]);
  setCurrency(null);
});

test("a share is a part of a total", () => {
  expect([shareOf(1, 26), shareOf(0, 4), shareOf(0, 0)]).toEqual(["3.8%", "0%", ""]);
});
