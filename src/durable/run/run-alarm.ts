import type { Moment } from "../../core/run/turn-host.ts";
import type { StoredQuestion } from "../storage/runs/question-store.ts";
import type { RunRecord } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";
import type { AlarmSource, TeamAlarm } from "../object/team-alarm.ts";
import { timeLeft } from "./run-limits.ts";

/** An object without requests is evicted after 70 to 140 s; well before that the alarm shows that it is in use. */
const HEARTBEAT_MS = 12_000;

/** Wakes the object when the active run needs something without a request. */
export class RunAlarm implements AlarmSource {
  readonly #alarm: TeamAlarm;
  readonly #stores: Stores;
  dueAt: number | null = null;

  constructor(alarm: TeamAlarm, stores: Stores) {
    this.#alarm = alarm;
    this.#stores = stores;
    alarm.serve(this);
  }

  /** Sets the alarm for the run as it is now. */
  set(record: RunRecord, now: Moment): void {
    this.resume(record, now);
    this.#alarm.arm();
  }

  /** The run was loaded: the alarm that was set for it before rings. */
  resume(record: RunRecord, now: Moment): void {
    this.dueAt = alarmTime(record, this.#stores.questions.open(record.id), now);
  }

  /** There is no active run. */
  clear(): void {
    this.dueAt = null;
    this.#alarm.arm();
  }
}

/**
 * When the alarm is due, epoch milliseconds: the earliest of heartbeat and time limit while the run is running, end of a
 * backoff (instead of the heartbeat) and expiry of a question. Null when only a client can change anything.
 */
function alarmTime(
  record: RunRecord,
  openQuestions: readonly StoredQuestion[],
  now: Moment,
): number | null {
  const { status, wake_at } = record;
  if (status === "paused") return null;
  const times: number[] = [];
  if (wake_at !== null) times.push(wake_at);
  else if (status === "running") times.push(now.at + HEARTBEAT_MS);
  if (status === "running") {
    const left = timeLeft(record, now.ran);
    if (left !== null) times.push(now.at + Math.max(0, left));
  }
  for (const { expiresAt } of openQuestions) if (expiresAt !== null) times.push(expiresAt);
  return times.length === 0 ? null : Math.min(...times);
}
