import { USAGE_GROUPS, type UsageQuery } from "../../../contract/usage/usage-report.ts";
import { directoryCommands } from "../../../contract/commands/directory.ts";
import { MOST_SEARCHED_TEAMS } from "../../../contract/team/found-messages.ts";
import type { WatchedChanges } from "../../../contract/gateways/tenant-gateway.ts";
import type { Principal } from "../../auth/principal.ts";
import { callerOf, permits, requireScope, sightOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { invalid, type ProblemError, unwrap } from "../endpoint/problem.ts";
import { listsOf, type Services } from "../endpoint/services.ts";
import { cursorOf, eventStreamHead, streamAnswer } from "../endpoint/sse.ts";

/** The collections of a tenant: teams, runs and open questions over all teams. */
export function directoryEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(directoryCommands, services, {
    async listTeams({ query, principal }) {
      const { status, q, agent, playground, limit, cursor } = query;
      const { order = "newest", metadata = {} } = query;
      const page = await listsOf(services, principal).teams({
        limit,
        ...(cursor !== undefined && { cursor }),
        order,
        metadata,
        ...(status !== undefined && { status }),
        ...(q !== undefined && { q }),
        ...(agent !== undefined && { agent }),
        ...(playground !== undefined && { playground }),
      });
      return json(unwrap(page));
    },

    async listAllRuns({ query, principal }) {
      const { since, from, to, ...filters } = query;
      const begin = from === undefined ? undefined : Date.parse(from);
      const end = to === undefined ? undefined : endOf(to);
      if (begin !== undefined && end !== undefined && begin > end) {
        throw badRange("from", "must not be after to");
      }
      const page = await listsOf(services, principal).runs({
        ...filters,
        ...(since !== undefined && { since: Date.parse(since) }),
        ...(begin !== undefined && { from: begin }),
        ...(end !== undefined && { to: end }),
      });
      return json(unwrap(page));
    },

    async listFailures({ query: { since, ...page }, principal }) {
      const failures = await listsOf(services, principal).failures({
        ...page,
        ...(since !== undefined && { since: Date.parse(since) }),
      });
      return json(unwrap(failures));
    },

    async listAllRequests({ query: { user, ...query }, principal }) {
      const sight = sightOf(principal, { user });
      return json(unwrap(await listsOf(services, principal).requests(query, sight)));
    },

    async searchMessages({ query: { q, limit, cursor }, principal, c }) {
      const listed = unwrap(
        await listsOf(services, principal).teams({
          limit: MOST_SEARCHED_TEAMS,
          ...(cursor !== undefined && { cursor }),
          order: "newest",
          metadata: {},
        }),
      );
      const { searchTeams } = await import("./search-teams.ts");
      const caller = callerOf(principal, { signal: c.req.raw.signal });
      const found = await searchTeams(listed.teams, { q, limit }, (team) =>
        services.gateway.team(principal.tenant, team, caller),
      );
      const { next_cursor } = listed;
      const complete = found.complete && next_cursor === null && cursor === undefined;
      return json({ ...found, complete, next_cursor });
    },

    async streamTenant({ query: { after }, principal, c }) {
      const header = c.req.header("last-event-id");
      const start = header || after !== undefined ? cursorOf(header, after) : null;
      if (c.req.raw.method === "HEAD") return eventStreamHead();
      return streamAnswer({
        body: unwrap(
          await listsOf(services, principal).events(
            start,
            watchedBy(principal),
            callerOf(principal, { signal: c.req.raw.signal }),
          ),
        ),
      });
    },

    async getUsage({ query, principal }) {
      const range = usageRange(query, Date.now());
      return json(unwrap(await listsOf(services, principal).usageReport(range)));
    },
  });
}

/** @throws ProblemError 403 */
function watchedBy(principal: Principal): WatchedChanges {
  const { scopes } = principal;
  if (scopes.includes("teams:read")) return scopes.includes("runs:read") ? "all" : "teams";
  if (!permits(scopes, "requests:write")) requireScope("teams:read", principal);
  return "requests";
}

const DAY_MS = 86_400_000;

/** The last millisecond of a day, or a time itself. */
function endOf(moment: string): number {
  const isDay = !moment.includes("T");
  return Date.parse(moment) + (isDay ? DAY_MS - 1 : 0);
}

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
