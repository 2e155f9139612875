import * as z from "zod";
import { idSchema } from "../../contract/common.ts";
import { cursorParameter, integerParameter } from "../../contract/query-parameters.ts";
import { humanRequestSchema } from "../../contract/run.ts";
import { USAGE_GROUPS, type UsageQuery } from "../../contract/usage/usage-report.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { invalid, type ProblemError, unwrap } from "../problem.ts";
import { type Services, tenantOf } from "../services.ts";
import { cursorOf, eventStreamHead, streamAnswer } from "../sse.ts";
import { defaultPage } from "./teams.ts";

/** What a tenant has: teams, runs and open questions over all teams. */
export function directoryEndpoints(services: Services): Endpoint[] {
  const { limits } = services;
  const limit = integerParameter(1, limits.max_page_size).optional();
  const cursor = z.string().max(500).optional().describe("A next_cursor of an earlier answer.");
  const paged = <T extends { limit?: number; cursor?: string }>(query: T) => ({
    limit: query.limit ?? defaultPage(limits.max_page_size),
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  });

  return [
    endpoint({
      method: "get",
      path: "/v1/teams",
      id: "listTeams",
      summary: "Teams, newest activity first",
      tag: "Teams",
      scope: "teams:read",
      query: z.strictObject({
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
        order: z.enum(["newest", "oldest"]).optional().describe("By last activity."),
        limit,
        cursor,
      }),
      answers: { 200: { description: "A page.", schema: "TeamList" } },
      async handle({ query, principal }) {
        const { status, q, agent, order = "newest", metadata = {} } = query;
        const page = await tenantOf(services, principal.tenant).teams({
          ...paged(query),
          order,
          metadata,
          ...(status !== undefined && { status }),
          ...(q !== undefined && { q }),
          ...(agent !== undefined && { agent }),
        });
        return json(unwrap(page));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/runs",
      id: "listAllRuns",
      summary: "Runs over all teams, newest first",
      tag: "Runs",
      scope: "runs:read",
      query: z.strictObject({
        status: z
          .enum(["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"])
          .optional(),
        team: idSchema.optional(),
        since: z.iso.datetime({ offset: true }).optional().describe("Created then or later."),
        limit,
        cursor,
      }),
      answers: { 200: { description: "A page.", schema: "RunList" } },
      async handle({ query, principal }) {
        const { status, team, since } = query;
        const page = await tenantOf(services, principal.tenant).runs({
          ...paged(query),
          ...(status !== undefined && { status }),
          ...(team !== undefined && { team }),
          ...(since !== undefined && { since: Date.parse(since) }),
        });
        return json(unwrap(page));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/requests",
      id: "listAllRequests",
      summary: "Open questions to humans over all teams, oldest first",
      tag: "Runs",
      scope: "runs:read",
      query: z.strictObject({ kind: humanRequestSchema.shape.kind.optional(), limit, cursor }),
      answers: { 200: { description: "A page.", schema: "RequestList" } },
      async handle({ query, principal }) {
        const { kind } = query;
        const page = await tenantOf(services, principal.tenant).requests({
          ...paged(query),
          ...(kind !== undefined && { kind }),
        });
        return json(unwrap(page));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/events",
      id: "streamTenant",
      summary:
        "What changes in the lists, as server-sent events; stays open. Runs and requests only with the scope runs:read",
      tag: "Teams",
      scope: "teams:read",
      query: z.strictObject({
        after: cursorParameter.optional().describe("Changes after this cursor."),
      }),
      resumable: true,
      answers: { 200: { description: "The stream.", frames: "TenantFrame" } },
      async handle({ query: { after }, principal, c }) {
        const header = c.req.header("last-event-id");
        const start = header || after !== undefined ? cursorOf(header, after) : null;
        if (c.req.raw.method === "HEAD") return eventStreamHead();
        return streamAnswer({
          body: unwrap(
            await tenantOf(services, principal.tenant).events(
              start,
              principal.scopes.includes("runs:read"),
              { credential: principal.id, signal: c.req.raw.signal },
            ),
          ),
        });
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/usage",
      id: "getUsage",
      summary: "Runs, turns, tokens and cost of the runs that ended in a range of days",
      tag: "Usage",
      scope: "usage:read",
      query: z.strictObject({
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
      answers: { 200: { description: "The report.", schema: "UsageReport" } },
      async handle({ query, principal }) {
        const range = usageRange(query, Date.now());
        return json(unwrap(await tenantOf(services, principal.tenant).usageReport(range)));
      },
    }),
  ];
}

const DAY_MS = 86_400_000;
/** Days of a report where none are given, and the most. */
const DAYS = 30;
const MOST_DAYS = 366;

/** @throws ProblemError 422 */
function usageRange(query: { from?: string; to?: string; by?: string }, now: number): UsageQuery {
  const day = (time: number): string => new Date(time).toISOString().slice(0, 10);
  const to = query.to ?? day(now);
  const from = query.from ?? day(Date.parse(to) - (DAYS - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw badRange("from", "must not be after to");
  if (days > MOST_DAYS) throw badRange("from", `must be at most ${MOST_DAYS} days before to`);
  const names: readonly string[] = USAGE_GROUPS;
  const by = (query.by ?? "day").split(",");
  if (!by.every((name) => names.includes(name))) {
    throw badRange("by", `must be one or several of ${names.join(", ")}, with commas`);
  }
  return { from, to, by: USAGE_GROUPS.filter((name) => by.includes(name)) };
}

function badRange(path: string, message: string): ProblemError {
  return invalid("invalid_query", "The query string is invalid.", [{ path, message }]);
}
