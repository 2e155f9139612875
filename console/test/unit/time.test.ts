import { expect, test } from "vitest";
import { meaningOf } from "../../schedules/cron.ts";
import { daysOf, lastDays } from "../../usage/period.ts";

const DAY_MS = 86_400_000;

test("the last days end today and are whole days in UTC", () => {
  const period = lastDays(7, Date.parse("2026-03-02T23:59:59Z"));
  expect(period).toEqual({ from: "2026-02-24", to: "2026-03-02" });
  const days = daysOf(period);
  expect(days).toHaveLength(7);
  expect([days[0], days[5], days[6]]).toEqual(["2026-02-24", "2026-03-01", "2026-03-02"]);
  expect(daysOf({ from: "2026-03-02", to: "2026-03-01" })).toEqual([]);
});

test("a cron expression has words and its next times", () => {
  const meaning = meaningOf(" 0 8 * * * ", "UTC");
  if ("problem" in meaning) throw new Error(meaning.problem);
  expect(meaning.words).toBe("At 08:00");
  expect(meaning.times.map((time) => time.getUTCHours())).toEqual([8, 8, 8]);
  const [first, second] = meaning.times.map(Number);
  expect(second! - first!).toBe(DAY_MS);
});

test.each([
  ["0 8 * *", "Enter five fields"],
  ["0 0 8 * * *", "Enter five fields"],
  ["0 25 * * *", "hour"],
  ["0 0 31 2 *", "never matches"],
])("the cron expression %s has a problem", (cron, problem) => {
  expect(meaningOf(cron, "UTC")).toEqual({ problem: expect.stringContaining(problem) as string });
});
