import { expect, test } from "vitest";
import { MAX_ATTEMPTS, retryDelay } from "#core/run/retry.ts";

function asked(retryAfterMs: unknown): Error {
  return Object.assign(new Error("slow down"), { retryAfterMs });
}

test("attempts wait longer and longer, or as long as the server asks, up to a day", () => {
  expect([1, 2, 3, 4].map((attempt) => retryDelay(attempt, undefined))).toEqual([
    500, 1000, 2000, 4000,
  ]);
  expect(retryDelay(1, asked(0))).toBe(0);
  expect(retryDelay(1, asked(3_600_000))).toBe(3_600_000);
  const day = 86_400_000;
  expect([1e12, Infinity].map((delay) => retryDelay(1, asked(delay)))).toEqual([day, day]);
  expect([NaN, -1, "5"].map((delay) => retryDelay(1, asked(delay)))).toEqual([500, 500, 500]);
  expect(retryDelay(MAX_ATTEMPTS, asked(0))).toBeUndefined();
});
