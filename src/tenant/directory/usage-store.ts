import type { ListedRun } from "../../contract/directory.ts";
import { addCosts, totalCost } from "../../contract/usage/model-usage.ts";
import type {
  UsageGroup,
  UsageQuery,
  UsageReport,
  UsageTotals,
} from "../../contract/usage/usage-report.ts";
import { refuse, ok, type Result } from "../../contract/result.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";

/** The usage of one team's runs that ended on one day (UTC). */
export interface DayUsage extends UsageTotals {
  day: string;
  models: Record<string, UsageTotals>;
}

/** The most rows of one report. */
const MOST_ROWS = 10_000;

const NOTHING: UsageTotals = {
  runs: 0,
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost: null,
};

/**
 * Usage of a team's earlier days. The usage of its last day is in the team's row of the list, which the end of a run
 * writes anyway.
 */
export class UsageStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  put(team: string, { day, ...usage }: DayUsage): void {
    const stored = this.#db.first<{ record: string }>(
      "select record from usage where day = ? and team = ?",
      day,
      team,
    );
    const before = stored && (JSON.parse(stored.record) as Omit<DayUsage, "day">);
    this.#db.write(
      "insert or replace into usage values (?, ?, ?)",
      day,
      team,
      JSON.stringify(before ? addDays(before, usage) : usage),
    );
  }

  *between(from: string, to: string): Iterable<{ team: string; usage: DayUsage }> {
    for (const { day, team, record } of this.#db.each<{
      day: string;
      team: string;
      record: string;
    }>(
      "select day, team, record from usage where (day, team) > (?, ?) and day <= ? order by day, team",
      [from, "", to],
      (row) => [row.day, row.team, to],
    )) {
      yield { team, usage: { day, ...(JSON.parse(record) as Omit<DayUsage, "day">) } };
    }
  }
}

/** The usage of one run, counted on the day it ended. */
export function usageOf(run: ListedRun): DayUsage {
  const { usage, models, turns, ended_at } = run;
  const counted = { runs: 1, turns };
  return {
    day: dayOf(ended_at ?? run.created_at),
    ...counted,
    ...usage,
    cost: totalCost(models),
    models: Object.fromEntries(
      Object.entries(models).map(([name, of]) => [name, { ...counted, ...of }]),
    ),
  };
}

/** Adds two usages of the same day. */
export function addDays<T extends Omit<DayUsage, "day">>(one: T, other: Omit<DayUsage, "day">): T {
  const models = { ...one.models };
  for (const [name, usage] of Object.entries(other.models)) {
    models[name] = add(Object.hasOwn(models, name) ? (models[name] ?? NOTHING) : NOTHING, usage);
  }
  return { ...one, ...add(one, other), models };
}

/** Groups usage into the rows of a report. */
export function usageReport(
  { from, to, by }: UsageQuery,
  days: Iterable<{ team: string; usage: DayUsage }>,
): Result<UsageReport> {
  const groups = new Map<string, UsageReport["usage"][number]>();
  let total = NOTHING;
  for (const { team, usage } of days) {
    total = add(total, usage);
    const parts: [model: string | undefined, UsageTotals][] = by.includes("model")
      ? Object.entries(usage.models)
      : [[undefined, usage]];
    for (const [model, used] of parts) {
      const of = nameOf(by, { day: usage.day, team, model });
      const key = JSON.stringify(of);
      groups.set(key, { ...of, ...add(groups.get(key) ?? NOTHING, used) });
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

/** The day of a time, UTC. @param time ISO 8601 UTC */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}

function nameOf(
  by: readonly UsageGroup[],
  names: { day: string; team: string; model: string | undefined },
): { day?: string; team?: string; model?: string } {
  return {
    ...(by.includes("day") && { day: names.day }),
    ...(by.includes("team") && { team: names.team }),
    ...(by.includes("model") && names.model !== undefined && { model: names.model }),
  };
}

function add(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    runs: one.runs + other.runs,
    turns: one.turns + other.turns,
    ...addUsage(one, other),
    cost: addCosts(one.cost, other.cost),
  };
}
