/** The first and last day of the period, both included, in UTC. */
export interface Period {
  from: string;
  to: string;
}

export const LENGTHS = [7, 30, 90, 365];
const DAY_MS = 86_400_000;

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The last days, including today. */
export function lastDays(days: number, now: number): Period {
  return { from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) };
}

/** All days of a period, oldest first. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_MS) days.push(dayOf(time));
  return days;
}
