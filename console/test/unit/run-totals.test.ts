import type { RunTotals } from "troupe/client";
import { expect, test } from "vitest";
import { addedTotals } from "../../runs/added-totals.ts";

const FIRST: RunTotals = {
  runs: 12,
  completed: 7,
  failed: 2,
  cancelled: 1,
  turns: 30,
  prompt_tokens: 1_000,
  completion_tokens: 200,
  cached_tokens: 5,
  cost: 1.5,
  seconds: 60,
  p50_seconds: 4,
  p95_seconds: 9,
  open: 2,
  complete: false,
  next_cursor: "a",
};
const NONE: RunTotals = {
  runs: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost: null,
  seconds: 0,
  p50_seconds: null,
  p95_seconds: null,
  open: 2,
  complete: true,
  next_cursor: null,
};

test("totals of runs are added, except for open runs, which each answer counts all", () => {
  const next = { ...FIRST, reasoning_tokens: 3, cost: 0.25, complete: true, next_cursor: null };
  expect(addedTotals(FIRST, next)).toEqual({
    runs: 24,
    completed: 14,
    failed: 4,
    cancelled: 2,
    turns: 60,
    prompt_tokens: 2_000,
    completion_tokens: 400,
    cached_tokens: 10,
    reasoning_tokens: 3,
    cost: 1.75,
    seconds: 120,
    p50_seconds: null,
    p95_seconds: null,
    open: 2,
    complete: true,
    next_cursor: null,
  });
});

test("percentiles stay known where all runs that ended are in one answer", () => {
  const known = { ...FIRST, complete: true, next_cursor: null };
  expect(addedTotals(FIRST, NONE)).toEqual(known);
  expect(addedTotals({ ...NONE, complete: false, next_cursor: "a" }, known)).toEqual(known);
});
