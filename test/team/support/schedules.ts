import type { CreateScheduleInput } from "#contract/gateways/team-gateway.ts";
import type { RunInfo } from "#contract/run.ts";
import type { ScheduleInfo } from "#contract/team/schedule.ts";
import { startInput, type TestTeam, value } from "./team.ts";

/** A schedule that runs at eight each day in UTC, unless `options` say something else. */
export function scheduleInput(options: Partial<CreateScheduleInput> = {}): CreateScheduleInput {
  const times = options.at === undefined ? { cron: "0 8 * * *" } : {};
  const { notify: _, ...run } = startInput("go");
  return { ...run, id: "daily", enabled: true, ...times, ...options };
}

export async function createSchedule(
  team: TestTeam,
  options: Partial<CreateScheduleInput> = {},
): Promise<ScheduleInfo> {
  return value(await team.gateway.createSchedule(scheduleInput(options)));
}

export async function scheduleOf(team: TestTeam, id = "daily"): Promise<ScheduleInfo> {
  return value(await team.gateway.schedule(id));
}

/** Oldest first. */
export async function runsOf(team: TestTeam): Promise<RunInfo[]> {
  return value(await team.gateway.runs({ limit: 50 })).runs.toReversed();
}

/** The occurrences that have started runs. */
export async function occurrencesOf(team: TestTeam): Promise<unknown[]> {
  return (await runsOf(team)).map(({ metadata }) => metadata.scheduled_for);
}
