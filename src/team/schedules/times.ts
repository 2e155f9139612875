import { Cron } from "croner";
import { type Refused, type Result, ok } from "../../contract/result.ts";
import type { ScheduleTimes } from "../../contract/gateways/team-gateway.ts";
import type { When } from "../storage/schedule-store.ts";

/** The first occurrence after a time; null if there is none. Times are epoch milliseconds. */
export function nextTime(when: When, after: number): number | null {
  if ("at" in when) {
    const at = Date.parse(when.at);
    return at > after ? at : null;
  }
  return cronOf(when).nextRun(new Date(after))?.getTime() ?? null;
}

/** The last occurrence at or before a time; null if there is none. */
export function latestTime(when: When, upTo: number): number | null {
  if ("at" in when) {
    const at = Date.parse(when.at);
    return at <= upTo ? at : null;
  }
  // The library looks at whole seconds before its reference.
  const reference = new Date((Math.floor(upTo / 1000) + 1) * 1000);
  return cronOf(when).previousRuns(1, reference)[0]?.getTime() ?? null;
}

/**
 * Reads the times of a request.
 *
 * @param present the current times, which an omitted field leaves unchanged
 * @param now epoch milliseconds
 * @returns 422 for a cron expression that is invalid or matches no date, and for a time in the past
 */
export function readTimes(
  { cron, timezone, at }: ScheduleTimes,
  present: When | undefined,
  now: number,
): Result<When> {
  if (at !== undefined) {
    const when = { at: new Date(at).toISOString() };
    return nextTime(when, now) === null ? past() : ok(when);
  }
  const repeated = present !== undefined && "cron" in present ? present : undefined;
  const pattern = cron ?? repeated?.cron;
  if (pattern === undefined) {
    return invalid("timezone", 'belongs to "cron": this schedule has a single time, "at"');
  }
  const when = { cron: pattern, timezone: timezone ?? repeated?.timezone ?? "UTC" };
  try {
    if (nextTime(when, now) !== null) return ok(when);
    return invalid("cron", "matches no date");
  } catch (error) {
    const { message } = error as Error;
    return invalid("cron", message.replace(/^CronPattern: /, ""));
  }
}

/** The refusal of a single time in the past. */
export function past(): Refused {
  return invalid("at", "is in the past");
}

/**
 * A time of day that the clocks skip is made up right after the gap, and one that they show twice counts once, also
 * where several hours are listed. Occurrences with a wildcard or a step follow elapsed time.
 */
function cronOf({ cron, timezone }: { cron: string; timezone: string }): Cron {
  return new Cron(cron, { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });
}

function invalid(path: string, message: string): Refused {
  const detail = "The times of the schedule are invalid.";
  const errors = [{ path, message }];
  return { ok: false, problem: { status: 422, code: "invalid_schedule", detail, errors } };
}
