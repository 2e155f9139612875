import type { ActiveRun } from "./active-run.ts";
import type { StoredQuestion } from "../storage/question-store.ts";

/** An object without requests is evicted after 70 to 140 s; well before that the alarm shows that it is in use. */
export const HEARTBEAT_MS = 15_000;

/** The runtime takes no alarm after the year 2189. One that rings early is set again. */
const FURTHEST_MS = 365 * 86_400_000;

/**
 * When the object's one alarm is due, epoch milliseconds: the earliest of heartbeat and time limit while the run is
 * running, end of a backoff (instead of the heartbeat) and expiry of a question. Null when nothing is to happen by itself.
 *
 * @param ran milliseconds the run has been running
 */
export function alarmTime(
  active: ActiveRun | undefined,
  open: readonly StoredQuestion[],
  now: number,
  ran: number,
): number | null {
  if (active === undefined || active.record.status === "paused") return null;
  const { status, wake_at } = active.record;
  const times: number[] = [];
  if (wake_at !== null) times.push(wake_at);
  else if (status === "running") times.push(now + HEARTBEAT_MS);
  if (status === "running") {
    const left = timeLeft(active, ran);
    if (left !== null) times.push(now + Math.max(0, left));
  }
  for (const { expiresAt } of open) if (expiresAt !== null) times.push(expiresAt);
  return times.length === 0 ? null : Math.min(now + FURTHEST_MS, ...times);
}

/** Milliseconds until the run's time limit; null without one. */
export function timeLeft({ record }: ActiveRun, ran: number): number | null {
  if (record.timeout_seconds === null) return null;
  return record.timeout_seconds * 1000 - (ran - record.ran_before);
}
