import type {
  UsageGroup,
  UsageQuery,
  UsageReport,
  UsageTotals,
} from "../../contract/usage/usage-report.ts";
import { refuse, ok, type Result } from "../../contract/result.ts";
import { addTotals, NOTHING } from "./day-usage.ts";
import type { TeamUsage } from "./usage-store.ts";

/** The most rows of one report. */
const MOST_ROWS = 10_000;

/** Groups usage into the rows of a report. */
export function usageReport(
  { from, to, by }: UsageQuery,
  days: Iterable<TeamUsage>,
): Result<UsageReport> {
  const groups = new Map<string, UsageReport["usage"][number]>();
  const countsFailed = !by.includes("model") && !by.includes("user");
  let total: UsageReport["total"] = { ...(countsFailed && { failed: 0 }), ...NOTHING };
  for (const { team, user, usage, failed = 0 } of days) {
    const added = (before: UsageReport["total"] | undefined, used: UsageTotals) => ({
      ...(countsFailed && { failed: (before?.failed ?? 0) + failed }),
      ...addTotals(before ?? NOTHING, used),
    });
    total = added(total, usage);
    const parts: [model: string | undefined, UsageTotals][] = by.includes("model")
      ? Object.entries(usage.models)
      : [[undefined, usage]];
    for (const [model, used] of parts) {
      const of = nameOf(by, { day: usage.day, team, user, model });
      const key = JSON.stringify(of);
      groups.set(key, { ...of, ...added(groups.get(key), used) });
      if (groups.size > MOST_ROWS) {
        return refuse(
          422,
          "report_too_large",
          `The report has more than ${MOST_ROWS} rows: ask for fewer days or fewer groups.`,
        );
      }
    }
  }
  const sorted = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return ok({ from, to, usage: sorted.map(([, row]) => row), total });
}

function nameOf(
  by: readonly UsageGroup[],
  names: { day: string; team: string; model: string | undefined; user: string | undefined },
): { day?: string; team?: string; model?: string; user?: string } {
  return {
    ...(by.includes("day") && { day: names.day }),
    ...(by.includes("team") && { team: names.team }),
    ...(by.includes("user") && names.user !== undefined && { user: names.user }),
    ...(by.includes("model") && names.model !== undefined && { model: names.model }),
  };
}
