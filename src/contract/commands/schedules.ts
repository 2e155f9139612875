import * as z from "zod";
import { pageCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { nothingSchema, runLocation, runSchema } from "../run.ts";
import {
  createScheduleSchema,
  patchScheduleSchema,
  schedulePageSchema,
  scheduleSchema,
} from "../team/schedule.ts";
import { command } from "./command.ts";

/** Schedules: runs that start by themselves, repeatedly or once. */
export const scheduleCommands = {
  createSchedule: command({
    method: "post",
    path: "/v1/teams/:team/schedules",
    summary: "Start runs at the times of a cron expression, or once at a time",
    tag: "Schedules",
    scope: "runs:write",
    body: createScheduleSchema,
    idempotent: true,
    answers: {
      201: { description: "The schedule.", schema: { Schedule: scheduleSchema }, location: true },
    },
    problems: [404, 409, 429],
  }),

  schedules: command({
    method: "get",
    path: "/v1/teams/:team/schedules",
    id: "listSchedules",
    summary: "The team's schedules, newest first",
    tag: "Schedules",
    scope: "runs:read",
    object: "team",
    query: (limits) =>
      z.strictObject({
        cursor: pageCursorParameter,
        limit: pageSizeParameter(limits),
      }),
    answers: { 200: { description: "A page.", schema: { SchedulePage: schedulePageSchema } } },
    problems: [404],
  }),

  schedule: command({
    method: "get",
    path: "/v1/teams/:team/schedules/:schedule",
    id: "getSchedule",
    summary: "A schedule",
    tag: "Schedules",
    scope: "runs:read",
    object: "team",
    answers: { 200: { description: "The schedule.", schema: { Schedule: scheduleSchema } } },
    problems: [404],
  }),

  changeSchedule: command({
    method: "patch",
    path: "/v1/teams/:team/schedules/:schedule",
    summary: "Change fields of a schedule, or disable or enable it",
    tag: "Schedules",
    scope: "runs:write",
    body: patchScheduleSchema,
    answers: { 200: { description: "The schedule.", schema: { Schedule: scheduleSchema } } },
    problems: [404],
  }),

  deleteSchedule: command({
    method: "delete",
    path: "/v1/teams/:team/schedules/:schedule",
    summary: "Delete a schedule; its runs stay",
    tag: "Schedules",
    scope: "runs:write",
    object: "team",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),

  runSchedule: command({
    method: "post",
    path: "/v1/teams/:team/schedules/:schedule/run_now",
    summary: "Start a run of the schedule now; its next occurrence stays as it is",
    tag: "Schedules",
    scope: "runs:write",
    object: "team",
    body: nothingSchema,
    bodyOptional: true,
    idempotent: true,
    answers: {
      202: { description: "The run.", schema: { Run: runSchema }, location: runLocation },
    },
    problems: [404, 409, 429],
  }),
};
