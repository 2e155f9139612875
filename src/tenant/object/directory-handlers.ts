import { ok, type Result } from "../../contract/result.ts";
import { invalidCursor } from "../directory/cursor.ts";
import { totalsOf } from "../directory/run-facts.ts";
import { usedOn } from "../usage/day-usage.ts";
import { usageReport } from "../usage/usage-report.ts";
import type { TenantHandlers } from "./tenant-methods.ts";

const NO_TOTALS = { ...totalsOf([]), open: 0, complete: true, next_cursor: null };

/** Commands on the lists over all teams of a tenant. */
export const directoryHandlers = {
  teams: ({ tenant: { parts } }, query) =>
    parts?.lists.teams(query) ?? emptyPage(query, { teams: [] }),

  runs: ({ tenant: { parts } }, query) =>
    parts?.runLists.runs(query) ??
    emptyPage(query, { runs: [], totals: NO_TOTALS, complete: true }),

  failures: ({ tenant: { parts } }, query) =>
    parts?.failures.list(query) ?? emptyPage(query, { groups: [], complete: true }),

  conversationRuns: ({ tenant: { parts } }, query) =>
    parts?.runLists.conversationRuns(query) ?? emptyPage(query, { runs: [], total: 0 }),

  teamOfRun: ({ tenant: { parts } }, run) => parts?.runLists.teamOf(run) ?? null,

  requests({ tenant: { parts } }, query, sight) {
    if (parts === undefined) return emptyPage(query, { requests: [] });
    const { store } = parts.connections;
    const page = parts.lists.requests(query);
    if (!page.ok) return page;
    const requests = page.value.requests.map((request) => store.withLogin(request, sight));
    return ok({ ...page.value, requests });
  },

  usageReport({ tenant: { parts } }, query) {
    if (parts === undefined) return usageReport(query, []);
    const { usage, directory } = parts;
    const inRange = ({ usage: { day } }: { usage: { day: string } }): boolean =>
      day >= query.from && day <= query.to;
    const days = [
      ...usage.between(query.from, query.to, query.team_user),
      ...[...directory.lastDays(Date.parse(query.from), query.team_user)].filter(inRange),
    ].map(({ team, usage: of }) => ({
      team,
      usage: usedOn(of),
      failed: of.outcomes.failed?.runs ?? 0,
    }));
    const report = usageReport(query, query.by.includes("user") ? usage.byUser(days) : days);
    if (!report.ok) return report;
    const rows = report.value.usage.map(({ team, ...row }) => ({
      ...(team !== undefined && { team, team_label: directory.team(team)?.label ?? null }),
      ...row,
    }));
    return ok({ ...report.value, usage: rows });
  },
} satisfies Partial<TenantHandlers>;

/** The page of a tenant without stored data. It never gave out a cursor, so any cursor is invalid. */
export function emptyPage<T extends object>(
  { cursor }: { cursor?: string },
  items: T,
): Result<T & { next_cursor: null }> {
  return cursor === undefined ? ok({ ...items, next_cursor: null }) : invalidCursor();
}
