import { Cron } from "croner";
import cronstrue from "cronstrue";

/** The meaning of a cron expression. */
export type CronMeaning = { words: string; times: readonly Date[] } | { problem: string };

const FIELDS = "Enter five fields: minute, hour, day of the month, month, day of the week.";

/** Reads a cron expression as the server does. @param count how many of the next times are wanted */
export function meaningOf(cron: string, timezone: string, count = 3): CronMeaning {
  const expression = cron.trim();
  if (!expression.startsWith("@") && expression.split(/\s+/).length !== 5) {
    return { problem: FIELDS };
  }
  try {
    const options = { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" } as const;
    const times = new Cron(expression, options).nextRuns(count);
    if (times.length === 0) return { problem: "This expression never matches." };
    return { words: wordsOf(expression), times };
  } catch (error) {
    const { message } = error as Error;
    return { problem: message.replace(/^(CronPattern|CronDate): /, "") };
  }
}

/** `At 08:00, Monday through Friday`, or the expression itself if it cannot be put into words. */
export function wordsOf(cron: string): string {
  try {
    const words = cronstrue.toString(cron.replaceAll(/#L/gi, "L"), { use24HourTimeFormat: true });
    // A day of the month or a day of the week is enough.
    return words.replace(", and on", ", or on");
  } catch {
    return cron;
  }
}

/** All time zones of the browser. */
export const TIME_ZONES: readonly string[] = ["UTC", ...Intl.supportedValuesOf("timeZone")];

export const OWN_TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `Mon, 23 Nov 2026, 08:00 GMT+1`. */
export function timeIn(date: Date, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
    timeZone,
  }).format(date);
}
