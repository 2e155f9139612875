import * as z from "zod";
import { cursorParameter, integerParameter } from "../../contract/common.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { unwrap } from "../problem.ts";
import type { Services } from "../services.ts";
import { cursorOf, EVENT_STREAM, eventStreamHead, streamAnswer } from "../sse.ts";
import { defaultPage } from "./teams.ts";

/** What a tenant has: teams, runs and open questions over all teams. */
export function directoryEndpoints({ tenants, limits }: Services): Endpoint[] {
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
      query: {
        status: z.enum(["idle", "running", "waiting", "paused"]).optional(),
        q: z.string().min(1).max(200).optional().describe("A part of the label or the id."),
        order: z.enum(["newest", "oldest"]).optional().describe("By last activity."),
        limit,
        cursor,
      },
      metadataQuery: true,
      answers: { 200: { description: "A page.", schema: "TeamList" } },
      async handle({ query, metadata, principal }) {
        const { status, q, order = "newest" } = query;
        const page = await tenants.tenant(principal.tenant).teams({
          ...paged(query),
          order,
          metadata,
          ...(status !== undefined && { status }),
          ...(q !== undefined && { q }),
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
      query: {
        status: z
          .enum(["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"])
          .optional(),
        since: z.iso.datetime({ offset: true }).optional().describe("Created then or later."),
        limit,
        cursor,
      },
      answers: { 200: { description: "A page.", schema: "RunList" } },
      async handle({ query, principal }) {
        const { status, since } = query;
        const page = await tenants.tenant(principal.tenant).runs({
          ...paged(query),
          ...(status !== undefined && { status }),
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
      query: { kind: z.enum(["input", "approval"]).optional(), limit, cursor },
      answers: { 200: { description: "A page.", schema: "RequestList" } },
      async handle({ query, principal }) {
        const { kind } = query;
        const page = await tenants
          .tenant(principal.tenant)
          .requests({ ...paged(query), ...(kind !== undefined && { kind }) });
        return json(unwrap(page));
      },
    }),

    endpoint({
      method: "get",
      path: "/v1/events",
      id: "streamTenant",
      summary: "What changes in the lists, as server-sent events; stays open",
      tag: "Teams",
      scope: "teams:read",
      query: { after: cursorParameter.optional().describe("Changes after this cursor.") },
      resumable: true,
      answers: { 200: { description: "The stream.", media: EVENT_STREAM } },
      async handle({ query: { after }, principal, c }) {
        const header = c.req.header("last-event-id");
        const start = header || after !== undefined ? cursorOf(header, after) : null;
        if (c.req.raw.method === "HEAD") return eventStreamHead();
        return streamAnswer({ body: await tenants.tenant(principal.tenant).events(start) });
      },
    }),
  ];
}
