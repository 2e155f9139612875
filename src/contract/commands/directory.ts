import * as z from "zod";
import { idSchema } from "../common.ts";
import { failureListSchema } from "../run-failures.ts";
import { requestListSchema, runListSchema, teamListSchema } from "../directory.ts";
import {
  amountParameter,
  cursorParameter,
  listCursorParameter,
  loginUserParameter,
  momentParameter,
  pageSizeParameter,
  searchParameter,
} from "../query-parameters.ts";
import { foundInTeamsSchema } from "../team/found-messages.ts";
import { humanRequestSchema } from "../run.ts";
import { usageReportSchema } from "../usage/usage-report.ts";
import { command } from "./command.ts";

/** Teams, runs and open questions over all teams of a tenant. */
export const directoryCommands = {
  listTeams: command({
    method: "get",
    path: "/v1/teams",
    summary: "Teams, newest activity first",
    tag: "Teams",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        status: z.enum(["idle", "running", "waiting", "paused"]).optional(),
        q: z.string().min(1).max(200).optional().describe("A part of the label or the id."),
        metadata: z
          .record(z.string(), z.string())
          .optional()
          .describe("metadata.KEY=value, as often as needed: teams whose metadata has this value."),
        agent: idSchema
          .optional()
          .describe(
            "Conversations that A2A callers have with this team. Left out, all other teams.",
          ),
        playground: z
          .enum(["true", "false"], 'must be "true" or "false"')
          .optional()
          .transform((given) => given && given === "true")
          .describe(
            "true: only teams that the console's playground has made to try variants, whose metadata has playground: true. false: only others.",
          ),
        order: z.enum(["newest", "oldest"]).optional().describe("By last activity."),
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page.", schema: { TeamList: teamListSchema } } },
  }),

  listAllRuns: command({
    method: "get",
    path: "/v1/runs",
    summary: "Runs over all teams, newest first, with the totals of all that match",
    tag: "Runs",
    scope: "runs:read",
    query: (limits) =>
      z.strictObject({
        status: z
          .enum(["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"])
          .optional(),
        team: idSchema.optional(),
        q: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe(
            "A part of the task, the answer, the error message, or the id of run or team. The whole id of a run finds this run, whatever its age.",
          ),
        model: z
          .string()
          .min(1)
          .max(200)
          .optional()
          .describe("Runs that called this model. The totals have the tokens and the cost of it."),
        error: z.string().min(1).max(200).optional().describe("The type of the run's error."),
        min_cost: amountParameter.optional().describe("Runs that cost at least this much."),
        since: z.iso.datetime({ offset: true }).optional().describe("Created then or later."),
        from: momentParameter.optional().describe("Ended then or later: a day (UTC) or a time."),
        to: momentParameter.optional().describe("Ended then or earlier: a day (UTC) or a time."),
        order: z
          .enum(["created_at", "cost", "seconds"], 'must be "created_at", "cost" or "seconds"')
          .optional()
          .describe("Highest first; newest first where it is left out."),
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
        totals_after: listCursorParameter.describe(
          "A totals.next_cursor of an earlier answer: the totals are of the next 10,000 runs.",
        ),
      }),
    answers: { 200: { description: "A page.", schema: { RunList: runListSchema } } },
  }),

  listFailures: command({
    method: "get",
    path: "/v1/runs/failures",
    summary: "Runs that failed, in groups of the same error, agent and version of the component",
    tag: "Runs",
    scope: "runs:read",
    query: (limits) =>
      z.strictObject({
        since: momentParameter.optional().describe("Ended then or later: a day (UTC) or a time."),
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page.", schema: { FailureList: failureListSchema } } },
  }),

  searchMessages: command({
    method: "get",
    path: "/v1/messages/search",
    summary: "Messages of the teams that were active last which contain a text",
    tag: "Teams",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        q: searchParameter,
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: {
      200: { description: "What was found.", schema: { FoundInTeams: foundInTeamsSchema } },
    },
  }),

  listAllRequests: command({
    method: "get",
    path: "/v1/requests",
    summary: "Open questions to humans over all teams",
    tag: "Runs",
    scope: "questions",
    query: (limits) =>
      z.strictObject({
        kind: humanRequestSchema.shape.kind.optional(),
        team: idSchema.optional().describe("Only the questions of this team."),
        order: z
          .enum(["created_at", "expires_at"], 'must be "created_at" or "expires_at"')
          .optional()
          .describe(
            "Oldest first, or those that expire soonest first, then those that do not expire by age. Left out, created_at.",
          ),
        user: loginUserParameter,
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page.", schema: { RequestList: requestListSchema } } },
  }),

  streamTenant: command({
    method: "get",
    path: "/v1/events",
    summary:
      "What changes in the lists, as server-sent events; stays open. Teams need the scope teams:read, runs and requests runs:read, too; with requests:write alone it has requests",
    tag: "Teams",
    scope: "each",
    query: () =>
      z.strictObject({
        after: cursorParameter.optional().describe("Changes after this cursor."),
      }),
    resumable: true,
    answers: { 200: { description: "The stream.", frames: "TenantFrame" } },
  }),

  getUsage: command({
    method: "get",
    path: "/v1/usage",
    summary: "Runs, turns, tokens and cost of the runs that ended in a range of days",
    tag: "Usage",
    scope: "usage:read",
    query: () =>
      z.strictObject({
        from: z.iso
          .date("must be a date like 2026-11-22")
          .optional()
          .describe("The first day, UTC. Left out, 29 days before the last one."),
        to: z.iso
          .date("must be a date like 2026-11-22")
          .optional()
          .describe("The last day, UTC, included. Left out, today."),
        by: z
          .string()
          .optional()
          .describe("day, team, model, or several with commas. Left out, day."),
      }),
    answers: { 200: { description: "The report.", schema: { UsageReport: usageReportSchema } } },
  }),
};
