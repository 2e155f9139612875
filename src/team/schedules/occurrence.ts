import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { Problem } from "../../contract/problem.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { ScheduleStore, StoredSchedule } from "../storage/schedule-store.ts";

/** The run of a schedule at a time. @param at ISO 8601 */
export function runOf(
  store: ScheduleStore,
  schedule: StoredSchedule,
  at: string,
): Omit<StartRunInput, "idempotency"> {
  const { id, run } = schedule.record;
  const metadata = { ...run.metadata, schedule_id: id, scheduled_for: at };
  return { ...run, metadata, task: store.task(schedule), webhook: null };
}

/** The run of an occurrence. Its key has a space, as no key of a request has: a second start finds the run of the first. */
export function occurrenceOf(
  store: ScheduleStore,
  schedule: StoredSchedule,
  at: string,
): StartRunInput {
  const idempotency = { key: `schedule ${schedule.record.id} ${at}`, hash: "occurrence" };
  return { ...runOf(store, schedule, at), idempotency };
}

/** Records in the schedule that its run has started. */
export function noteStart({ record }: StoredSchedule, at: string, run: RunInfo): void {
  record.last_at = at;
  record.last_run = run.id;
  record.last_error = null;
}

/** Records in the schedule why an occurrence has started no run. Returns false if that is already recorded. */
export function noteError({ record }: StoredSchedule, at: string, problem: Problem): boolean {
  const { code, detail, extra } = problem;
  const { last_error: last } = record;
  if (last?.code === code && last.scheduled_for === at) return false;
  const run = typeof extra?.run_id === "string" ? ` Run: ${extra.run_id}.` : "";
  record.last_error = { code, message: `${detail}${run}`, scheduled_for: at };
  return true;
}
