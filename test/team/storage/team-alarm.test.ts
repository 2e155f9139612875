import { beforeEach, expect, test, vi } from "vitest";
import { type AlarmSource, TeamAlarm } from "#team/storage/team-alarm.ts";

const NOW = 1_800_000_000_000;

/** The time that the object's alarm is set to, and how often it was set or deleted. */
const object = { time: null as number | null, writes: 0 };
const storage = {
  setAlarm(time: number) {
    object.time = time;
    object.writes++;
  },
  deleteAlarm() {
    object.time = null;
    object.writes++;
  },
} as unknown as DurableObjectStorage;

let alarm: TeamAlarm;
const run = { dueAt: (NOW + 12_000) as number | null };
const entries = { dueAt: null as number | null };

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  Object.assign(object, { time: null, writes: 0 });
  Object.assign(run, { dueAt: NOW + 12_000 });
  Object.assign(entries, { dueAt: null });
  alarm = new TeamAlarm(storage);
  for (const source of [run, entries]) alarm.serve(source satisfies AlarmSource);
  alarm.set();
  return () => vi.useRealTimers();
});

test("T8: an alarm that fires soon is kept for what a run leaves when it ends", () => {
  Object.assign(run, { dueAt: null });
  Object.assign(entries, { dueAt: NOW + 14_000 });
  alarm.over(run, true);
  expect(object).toEqual({ time: NOW + 12_000, writes: 1 });
});

test("T8: a source that was not asked when a run ended is asked by the next one that sets the alarm", () => {
  Object.assign(run, { dueAt: null });
  alarm.over(run, true);
  Object.assign(entries, { dueAt: NOW + 14_000 });
  const other = { dueAt: NOW + 60_000 };
  alarm.serve(other);
  alarm.set(other);
  expect(object.time).toBe(NOW + 12_000);
  alarm.fired();
  alarm.set(other);
  expect(object.time).toBe(NOW + 14_000);
});

test("T8: the end of a run sets an alarm that is not set, or fires much later", () => {
  alarm.fired();
  Object.assign(entries, { dueAt: NOW + 14_000 });
  Object.assign(run, { dueAt: null });
  alarm.over(run, true);
  expect(object.time).toBe(NOW + 14_000);

  Object.assign(entries, { dueAt: NOW + 3_600_000 });
  alarm.set();
  Object.assign(entries, { dueAt: NOW + 30_000 });
  alarm.over(run, true);
  expect(object.time).toBe(NOW + 30_000);
});

test("the end of a run deletes the alarm where nothing would set it again soon", () => {
  Object.assign(run, { dueAt: null });
  alarm.over(run, false);
  expect(object.time).toBeNull();
});
