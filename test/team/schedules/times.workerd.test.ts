import type * as fc from "fast-check";
import { assert, constant, constantFrom, integer, oneof, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { latestTime, nextTime } from "#team/schedules/times.ts";
import { casesOf } from "../../support/samples.ts";

const HOUR = 3_600_000;

/** The occurrences after a time, as dates, in Berlin. */
function occurrences(cron: string, after: string, count: number): string[] {
  const times: string[] = [];
  let time = Date.parse(after);
  while (times.length < count) {
    time = nextTime({ cron, timezone: "Europe/Berlin" }, time) ?? Number.NaN;
    times.push(new Date(time).toISOString().slice(0, 16));
  }
  return times;
}

describe("a schedule at a clock change in Berlin", () => {
  test("that has a time of day in the gap runs right after it", () => {
    const days = ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"];
    expect(occurrences("30 2 * * *", "2026-03-27T12:00Z", 3)).toEqual(days);
  });

  test("that has a time of day in the overlap runs once", () => {
    const days = ["2026-10-25T00:30", "2026-10-26T01:30"];
    expect(occurrences("30 2 * * *", "2026-10-24T12:00Z", 2)).toEqual(days);
    const both = ["2026-10-24T12:30", "2026-10-25T00:30", "2026-10-25T13:30"];
    expect(occurrences("30 2,14 * * *", "2026-10-24T12:00Z", 3)).toEqual(both);
  });

  test("that has an interval follows the elapsed time", () => {
    const spring = ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"];
    expect(occurrences("*/30 * * * *", "2026-03-29T00:00Z", 3)).toEqual(spring);
    const autumn = ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"];
    expect(occurrences("*/30 * * * *", "2026-10-25T00:00Z", 3)).toEqual(autumn);
  });
});

const field = (most: number): fc.Arbitrary<string> => {
  const one = integer({ min: 0, max: most });
  return oneof(
    constant("*"),
    one.map(String),
    integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
    tuple(one, one).map((ends) => ends.toSorted((a, b) => a - b).join("-")),
    tuple(one, one).map((both) => both.join(",")),
  );
};

const timezone = constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");

/** Near changes of the clocks, and elsewhere. */
const moment = tuple(
  constantFrom("2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-11-01T06:00Z", "2026-06-01T00:00Z"),
  integer({ min: -4 * HOUR, max: 4 * HOUR }),
).map(([base, offset]) => Date.parse(base) + offset);

test("the latest occurrence is the last one that comes after an earlier time", () => {
  assert(
    property(field(59), field(23), timezone, moment, (minute, hour, zone, now) => {
      const when = { cron: `${minute} ${hour} * * *`, timezone: zone };
      let latest: number | null = null;
      let next = nextTime(when, now - 26 * HOUR);
      while (next !== null && next <= now) {
        latest = next;
        next = nextTime(when, next);
      }
      // In 26 hours there is one, however the clocks change.
      expect(latestTime(when, now)).toBe(latest);
    }),
    { numRuns: casesOf(60) },
  );
});

test("a single time comes once", () => {
  const at = Date.parse("2026-03-29T01:00:00.500Z");
  const when = { at: new Date(at).toISOString() };
  expect([nextTime(when, at - 1), nextTime(when, at)]).toEqual([at, null]);
  expect([latestTime(when, at - 1), latestTime(when, at)]).toEqual([null, at]);
});
