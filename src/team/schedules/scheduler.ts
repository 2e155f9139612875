import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Problem } from "../../contract/problem.ts";
import type { Result } from "../../contract/result.ts";
import type { AdmissionDecision } from "../engine/requests/admission.ts";
import type { RunService } from "../engine/requests/run-service.ts";
import type { AlarmSource, TeamAlarm } from "../storage/team-alarm.ts";
import type { Stores } from "../storage/stores.ts";
import { noteError, noteStart, occurrenceOf } from "./occurrence.ts";

/** The shortest wait before an occurrence whose run could not be started is tried again. */
const RETRY_MS = 15_000;
/** Seconds; used for a limit that does not say when a retry may succeed. */
const LIMIT_RETRY_S = 600;
/** A clock may be set back by this much at any time without harm to the next occurrences. */
const SET_BACK_MS = 60_000;

export interface SchedulerOptions {
  stores: Stores;
  alarm: TeamAlarm;
  runs: Pick<RunService, "start">;
  /** Decides what a request for a run leads to, and asks whether the tenant's limits allow it. */
  admit: (input: StartRunInput) => Promise<Result<AdmissionDecision>>;
}

/**
 * Starts the runs of schedules when the alarm fires. The next occurrence is stored in the schedule in the same
 * synchronous step that starts the run, so a crash finds both or neither.
 */
export class Scheduler implements AlarmSource {
  readonly #options: SchedulerOptions;
  /**
   * When due occurrences are tried again, epoch milliseconds. It is lost with the object; then they are due at once.
   */
  readonly #retries = new Map<string, number>();
  #latest = Date.now();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    options.alarm.serve(this);
  }

  get dueAt(): number | null {
    let first: number | null = null;
    for (const [id, next] of this.#options.stores.schedules.times) {
      const time = this.#retries.get(id) ?? next;
      if (first === null || time < first) first = time;
    }
    return first;
  }

  /**
   * The schedules to {@link run} now, by time. They become due again shortly, so that an alarm set from now on tries
   * again whatever happens to this attempt.
   */
  takeDue(): string[] {
    const now = Date.now();
    const due = [...this.#options.stores.schedules.times]
      .map(([id, next]) => ({ id, next, time: this.#retries.get(id) ?? next }))
      .filter(({ time }) => time <= now)
      .toSorted((a, b) => a.next - b.next);
    for (const { id } of due) this.#retries.set(id, now + RETRY_MS);
    return due.map(({ id }) => id);
  }

  /** Starts the run of the latest occurrence that is due; earlier ones were missed and are not made up. */
  async run(id: string): Promise<void> {
    // Imported here, because most teams have no schedules.
    const { latestTime, nextTime } = await import("./times.ts");
    const { stores, alarm, runs, admit } = this.#options;
    const schedule = stores.schedules.byId(id);
    const now = Date.now();
    // The schedule may have changed since the alarm fired.
    if (schedule === undefined || schedule.next_at === null || schedule.next_at > now) {
      this.changed(id);
      return;
    }
    const { when } = schedule.record;
    const time = Math.max(schedule.next_at, latestTime(when, now) ?? 0);
    const at = new Date(time).toISOString();
    const input = occurrenceOf(stores.schedules, schedule, at);
    const admitted = await admit(input);
    // No await from here on: the start and the next time are stored together.
    const started = admitted.ok ? runs.start(input, admitted.value) : admitted;
    const next = nextTime(when, now);
    if (!started.ok && isTemporary(started.problem)) {
      if (noteError(schedule, at, started.problem)) stores.schedules.update(schedule);
      const { retry_after = LIMIT_RETRY_S } = started.problem;
      const wait = Math.max(RETRY_MS, retry_after * 1000);
      this.#retries.set(id, Math.min(now + wait, next ?? Number.MAX_SAFE_INTEGER));
      alarm.set();
      return;
    }
    if (started.ok) noteStart(schedule, at, started.value);
    else noteError(schedule, at, started.problem);
    stores.schedules.update({ ...schedule, next_at: next });
    this.changed(id);
  }

  /** Corrects the next occurrences when the clock of the machine was set back. */
  watchClock(): void {
    const now = Date.now();
    const setBack = now < this.#latest - SET_BACK_MS;
    this.#latest = now;
    if (setBack) void this.correct();
  }

  /**
   * Moves back next occurrences that were stored while the clock was ahead, because they would come days too late. An
   * occurrence that already had its run finds it by its key.
   */
  async correct(): Promise<void> {
    const { schedules } = this.#options.stores;
    if (schedules.times.size === 0) return;
    const { nextTime } = await import("./times.ts");
    const now = Date.now();
    this.#retries.clear();
    for (const id of schedules.times.keys()) {
      const schedule = schedules.byId(id);
      if (schedule?.next_at == null) continue;
      const next = nextTime(schedule.record.when, now);
      if (next === null || next >= schedule.next_at) continue;
      schedules.update({ ...schedule, next_at: next });
      this.changed(id);
    }
  }

  /** The schedule's next time has changed. */
  changed(id: string): void {
    this.#retries.delete(id);
    this.#options.alarm.set();
  }
}

/** True if a limit was reached or something is unavailable, as opposed to a run that cannot start beside another. */
function isTemporary({ status }: Problem): boolean {
  return status === 429 || status >= 500;
}
