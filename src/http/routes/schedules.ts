import * as z from "zod";
import { integerParameter, pageCursorParameter } from "../../contract/query-parameters.ts";
import { nothingSchema } from "../../contract/run.ts";
import { createScheduleSchema, patchScheduleSchema } from "../../contract/schedule.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { unwrap } from "../problem.ts";
import type { Services } from "../services.ts";
import { parseTask } from "../input/task.ts";
import { checkMetadata } from "../input/team-input.ts";
import { defaultPage } from "./teams.ts";

/** Runs that start by themselves, at times that repeat or at one time. */
export function scheduleEndpoints({ limits }: Services): Endpoint[] {
  const tag = "Schedules" as const;
  const all = "/v1/teams/:team/schedules";
  const one = `${all}/:schedule`;

  return [
    endpoint({
      method: "post",
      path: all,
      id: "createSchedule",
      summary: "Start runs at the times of a cron expression, or once at a time",
      tag,
      scope: "runs:write",
      body: createScheduleSchema,
      idempotent: true,
      answers: { 201: { description: "The schedule.", schema: "Schedule", location: true } },
      problems: [404, 409, 429],
      async handle({ body, team, param, idempotency }) {
        checkMetadata(body.metadata, limits);
        const created = unwrap(
          await team.createSchedule({
            ...body,
            task: parseTask(body.task, limits),
            ...(idempotency && { idempotency }),
          }),
        );
        const location = `/v1/teams/${param("team")}/schedules/${created.id}`;
        return json(created, 201, { location });
      },
    }),

    endpoint({
      method: "get",
      path: all,
      id: "listSchedules",
      summary: "The team's schedules, newest first",
      tag,
      scope: "runs:read",
      query: z.strictObject({
        cursor: pageCursorParameter,
        limit: integerParameter(1, limits.max_page_size).optional(),
      }),
      answers: { 200: { description: "A page.", schema: "SchedulePage" } },
      problems: [404],
      async handle({ query, team }) {
        const { cursor, limit = defaultPage(limits.max_page_size) } = query;
        const page = { ...(cursor !== undefined && { cursor }), limit };
        return json(unwrap(await team.schedules(page)));
      },
    }),

    endpoint({
      method: "get",
      path: one,
      id: "getSchedule",
      summary: "A schedule",
      tag,
      scope: "runs:read",
      answers: { 200: { description: "The schedule.", schema: "Schedule" } },
      problems: [404],
      handle: async ({ team, param }) => json(unwrap(await team.schedule(param("schedule")))),
    }),

    endpoint({
      method: "patch",
      path: one,
      id: "changeSchedule",
      summary: "Change fields of a schedule, or disable or enable it",
      tag,
      scope: "runs:write",
      body: patchScheduleSchema,
      answers: { 200: { description: "The schedule.", schema: "Schedule" } },
      problems: [404],
      async handle({ body, team, param }) {
        checkMetadata(body.metadata, limits);
        const { task, ...changes } = body;
        const changed = await team.changeSchedule(param("schedule"), {
          ...changes,
          ...(task !== undefined && { task: parseTask(task, limits) }),
        });
        return json(unwrap(changed));
      },
    }),

    endpoint({
      method: "delete",
      path: one,
      id: "deleteSchedule",
      summary: "Delete a schedule; its runs stay",
      tag,
      scope: "runs:write",
      answers: { 204: { description: "It is deleted." } },
      problems: [404],
      async handle({ team, param }) {
        unwrap(await team.deleteSchedule(param("schedule")));
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "post",
      path: `${one}/run_now`,
      id: "runSchedule",
      summary: "Start a run of the schedule now; its next occurrence stays as it is",
      tag,
      scope: "runs:write",
      body: nothingSchema,
      bodyOptional: true,
      idempotent: true,
      answers: { 202: { description: "The run.", schema: "Run", location: true } },
      problems: [404, 409, 429],
      async handle({ team, param, idempotency }) {
        const run = unwrap(await team.runSchedule(param("schedule"), idempotency));
        return json(run, 202, { location: `/v1/teams/${run.team_id}/runs/${run.id}` });
      },
    }),
  ];
}
