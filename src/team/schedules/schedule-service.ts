import type {
  CreateScheduleInput,
  ScheduleChanges,
  ScheduledRun,
  StartRunInput,
} from "../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../contract/common.ts";
import {
  idempotencyMismatch,
  invalidCursor,
  ok,
  refuse,
  type Refused,
  type Result,
} from "../../contract/result.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { StoredReceiver } from "../../contract/notify.ts";
import type { ScheduleInfo, SchedulePage } from "../../contract/team/schedule.ts";
import type { AdmissionDecision } from "../engine/requests/admission.ts";
import type { RunService } from "../engine/requests/run-service.ts";
import { MAX_PAGE_BYTES } from "../../sqlite/page-limit.ts";
import type { Stores } from "../storage/stores.ts";
import { noteStart, runOf } from "./occurrence.ts";
import type { ScheduleRecord, StoredSchedule } from "../storage/schedule-store.ts";
import type { Scheduler } from "./scheduler.ts";

/** Schedules of one team. */
const MOST_SCHEDULES = 100;

/** A request whose receivers are sealed. */
type Sealed<Input> = Omit<Input, "notify"> & Pick<ScheduledRun, "notify">;

export interface ScheduleServiceOptions {
  stores: Stores;
  scheduler: Pick<Scheduler, "changed">;
  runs: Pick<RunService, "start">;
  /** Decides what a request for a run leads to, and asks whether the tenant's limits allow it. */
  admit: (input: StartRunInput) => Promise<Result<AdmissionDecision>>;
}

/** The schedule operations of the gateway. */
export class ScheduleService {
  readonly #options: ScheduleServiceOptions;

  constructor(options: ScheduleServiceOptions) {
    this.#options = options;
  }

  async create(input: Sealed<CreateScheduleInput>): Promise<Result<ScheduleInfo>> {
    const { schedules } = this.#options.stores;
    const { nextTime, readTimes } = await import("./times.ts");
    const { id = crypto.randomUUID(), enabled, idempotency, ...rest } = input;
    const { cron: _cron, timezone: _timezone, at: _at, task, ...run } = rest;
    const earlier = idempotency && schedules.createdBy(idempotency.key);
    if (earlier) {
      const same = earlier.record.idempotency?.hash === idempotency.hash;
      return same ? ok(this.#info(earlier)) : idempotencyMismatch();
    }
    if (schedules.byId(id)) {
      return refuse(409, "schedule_exists", `The team has a schedule with the id "${id}".`);
    }
    const now = Date.now();
    const when = readTimes(input, undefined, now);
    if (!when.ok) return when;
    if (schedules.count >= MOST_SCHEDULES) return tooManySchedules();
    const record: ScheduleRecord = {
      id,
      when: when.value,
      run,
      enabled,
      last_at: null,
      last_run: null,
      last_error: null,
      created_at: new Date(now).toISOString(),
      idempotency: idempotency ?? null,
    };
    const next = enabled ? nextTime(record.when, now) : null;
    const stored = this.#write(id, () => schedules.insert(record, next, task));
    return ok(this.#info(stored));
  }

  /** The receivers of a schedule's runs; none for a schedule that does not exist. */
  receivers(id: string): readonly StoredReceiver[] {
    return this.#options.stores.schedules.byId(id)?.record.run.notify ?? [];
  }

  one(id: string): Result<ScheduleInfo> {
    return this.#with(id, (schedule) => ok(this.#info(schedule)));
  }

  page({ cursor, limit }: { cursor?: string; limit: number }): Result<SchedulePage> {
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(cursor);
    if (!Number.isSafeInteger(before)) return invalidCursor();
    const { schedules } = this.#options.stores;
    const found = schedules.page(before, limit + 1);
    const shown: StoredSchedule[] = [];
    let bytes = 0;
    for (const schedule of found.slice(0, limit)) {
      bytes += schedules.taskSize(schedule);
      if (shown.length > 0 && bytes > MAX_PAGE_BYTES) break;
      shown.push(schedule);
    }
    const last = shown.at(-1);
    return ok({
      schedules: shown.map((schedule) => this.#info(schedule)),
      next_cursor: found.length > shown.length && last ? String(last.seq) : null,
    });
  }

  /** A schedule that was disabled continues with the first occurrence from now on. */
  async change(id: string, changes: Sealed<ScheduleChanges>): Promise<Result<ScheduleInfo>> {
    const { nextTime, past, readTimes } = await import("./times.ts");
    return this.#with(id, (schedule) => {
      const { cron, timezone, at, enabled, task, ...run } = changes;
      const { schedules } = this.#options.stores;
      const { record } = schedule;
      const before = JSON.stringify(record);
      const now = Date.now();
      const timed = cron !== undefined || timezone !== undefined || at !== undefined;
      const when = timed ? readTimes(changes, record.when, now) : ok(record.when);
      if (!when.ok) return when;
      const resumed = enabled === true && !record.enabled;
      record.when = when.value;
      record.enabled = enabled ?? record.enabled;
      record.run = { ...record.run, ...run };
      if (!record.enabled) schedule.next_at = null;
      else if (timed || resumed) schedule.next_at = nextTime(record.when, now);
      if (resumed && schedule.next_at === null) return past();
      this.#write(id, () => {
        if (task !== undefined) schedules.updateTask(schedule, task);
        if (timed || JSON.stringify(record) !== before) schedules.update(schedule);
      });
      return ok(this.#info(schedule));
    });
  }

  remove(id: string): Result<null> {
    return this.#with(id, (schedule) => {
      this.#write(id, () => this.#options.stores.schedules.remove(schedule));
      return ok(null);
    });
  }

  /** Starts a run now, in addition to the schedule's occurrences; also for a disabled schedule. */
  async runNow(id: string, idempotency: Idempotency | undefined): Promise<Result<RunInfo>> {
    const { stores, runs } = this.#options;
    const schedule = stores.schedules.byId(id);
    if (schedule === undefined) return scheduleNotFound();
    const at = new Date().toISOString();
    const input: StartRunInput = {
      ...runOf(stores.schedules, schedule, at),
      ...(idempotency && { idempotency: { key: idempotency.key, hash: `run_now ${id}` } }),
    };
    const admitted = await this.#options.admit(input);
    if (!admitted.ok) return admitted;
    const started = runs.start(input, admitted.value);
    if (!started.ok) return started;
    const { created, ...run } = started.value;
    if (created) {
      noteStart(schedule, at, run);
      stores.schedules.update(schedule);
    }
    return ok(run);
  }

  #with<T>(id: string, use: (schedule: StoredSchedule) => Result<T>): Result<T> {
    const schedule = this.#options.stores.schedules.byId(id);
    return schedule === undefined ? scheduleNotFound() : use(schedule);
  }

  #write<T>(id: string, changes: () => T): T {
    const { stores, scheduler } = this.#options;
    const result = stores.db.transaction(changes);
    scheduler.changed(id);
    return result;
  }

  #info(schedule: StoredSchedule): ScheduleInfo {
    const { stores } = this.#options;
    const { record, next_at } = schedule;
    const { id, when, run, enabled, last_at, last_run, last_error, created_at } = record;
    const times =
      "at" in when ? { cron: null, timezone: null, at: when.at } : { ...when, at: null };
    return {
      id,
      team_id: stores.team.record.id,
      ...times,
      enabled,
      task: stores.schedules.task(schedule),
      ...run,
      notify: (run.notify ?? []).map(({ shown }) => shown),
      next_at: next_at === null ? null : new Date(next_at).toISOString(),
      last_at,
      last_run,
      last_error,
      created_at,
    };
  }
}

function scheduleNotFound(): Refused {
  return refuse(404, "schedule_not_found", "The team has no such schedule.");
}

function tooManySchedules(): Refused {
  const detail = `The team has ${MOST_SCHEDULES} schedules, the most it may have. Delete one.`;
  const limit = { limit: "schedules_per_team", value: MOST_SCHEDULES };
  const { problem } = refuse(429, "too_many_schedules", detail, limit);
  return { ok: false, problem: { ...problem, repeatable: false } };
}
