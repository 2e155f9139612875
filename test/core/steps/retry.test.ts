import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import { countAttempts, retryDelay } from "#core/steps/retry.ts";

function asked(retryAfterMs: unknown): Error {
  return Object.assign(new Error("slow down"), { retryAfterMs });
}

const failed = (attempt: number, error: unknown, failingSeconds = 0) => ({
  attempt,
  error,
  failingMs: failingSeconds * 1000,
});

const away = new ModelError("server", "503");

test("attempts wait longer and longer, or as long as the server asks", () => {
  expect([1, 2, 3, 4].map((attempt) => retryDelay(failed(attempt, undefined)))).toEqual([
    500, 1000, 2000, 4000,
  ]);
  const policy = { forSeconds: 86_400 };
  expect([0, 3_600_000].map((delay) => retryDelay(failed(1, asked(delay)), policy))).toEqual([
    0, 3_600_000,
  ]);
  // A server that is still away after short waits is asked less often.
  expect([4, 5, 6, 7].map((attempt) => retryDelay(failed(attempt, asked(0))))).toEqual([
    0, 500, 1000, 2000,
  ]);
  expect([1e12, Infinity].map((delay) => retryDelay(failed(1, asked(delay)), policy))).toEqual([
    undefined,
    undefined,
  ]);
  expect([NaN, -1, "5"].map((delay) => retryDelay(failed(1, asked(delay))))).toEqual([
    500, 500, 500,
  ]);
});

test("an error names the number of attempts once", () => {
  const error = new Error("gone");
  countAttempts(failed(1, error));
  expect(error.message).toBe("gone");
  countAttempts(failed(3, error, 1.2));
  countAttempts(failed(7, error, 60));
  expect(error.message).toBe("gone (3 attempts in 1 second)");
});

describe("a policy that leaves everything to the default", () => {
  test("waits two minutes for a server that is away, and makes a last attempt at their end", () => {
    const delays = [1, 2, 6, 7, 8].map((attempt) => retryDelay(failed(attempt, away, 60), {}));
    expect(delays).toEqual([500, 1000, 16_000, 32_000, 60_000]);
    expect(retryDelay(failed(8, away, 100), {})).toBe(20_000);
    expect(retryDelay(failed(9, away, 120), {})).toBeUndefined();
  });

  test("makes five attempts where time does not resolve the error, and where each takes minutes", () => {
    const cut = new ModelError("bad_response", "half an answer");
    expect(retryDelay(failed(4, cut, 10), {})).toBe(4000);
    expect(retryDelay(failed(5, cut, 10), {})).toBeUndefined();
    expect(retryDelay(failed(2, away, 600), {})).toBe(1000);
    expect(retryDelay(failed(5, away, 600), {})).toBeUndefined();
  });

  test("gives up at once when the server asks for a wait beyond two minutes", () => {
    const later = (seconds: number) =>
      new ModelError("rate_limit", "later", { retryAfterMs: seconds * 1000 });
    expect(retryDelay(failed(1, later(120)), {})).toBe(120_000);
    expect(retryDelay(failed(1, later(121)), {})).toBeUndefined();
    expect(retryDelay(failed(3, later(30), 100), {})).toBeUndefined();
  });
});

describe("a policy", () => {
  test("ends after its attempts, or its seconds, whichever comes first", () => {
    expect(retryDelay(failed(2, away), { attempts: 3 })).toBe(1000);
    expect(retryDelay(failed(3, away), { attempts: 3 })).toBeUndefined();
    expect(retryDelay(failed(40, away, 3000), { forSeconds: 3600 })).toBe(60_000);
    expect(retryDelay(failed(41, away, 3600), { forSeconds: 3600 })).toBeUndefined();
    expect(retryDelay(failed(2, away, 10), { forSeconds: 3600, attempts: 2 })).toBeUndefined();
  });

  test("that has no seconds makes one attempt", () => {
    expect(retryDelay(failed(1, away), { forSeconds: 0 })).toBeUndefined();
  });
});
