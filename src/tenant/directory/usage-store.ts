import type { LaterUsage, ListedRun } from "../../contract/directory.ts";
import { addCosts, totalCost } from "../../contract/usage/model-usage.ts";
import type {
  UsageGroup,
  UsageQuery,
  UsageReport,
  UsageTotals,
} from "../../contract/usage/usage-report.ts";
import { refuse, ok, type Result } from "../../contract/result.ts";
import { addUsage, subtractUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";

/** The usage of one team's runs that ended on one day (UTC). */
export interface DayUsage extends UsageTotals {
  day: string;
  models: Record<string, UsageTotals>;
}

/** The usage of a team's day, or the share of it that is known to be one user's. */
export interface TeamUsage {
  team: string;
  user?: string;
  usage: DayUsage;
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

  put(team: string, { day, ...usage }: DayUsage, user: string | undefined): void {
    const stored = this.#db.first<{ record: string }>(
      "select record from usage where day = ? and team = ?",
      day,
      team,
    );
    const before = stored && (JSON.parse(stored.record) as Omit<DayUsage, "day">);
    const sum = before ? addDays(before, usage) : usage;
    this.#db.write(
      "insert or replace into usage values (?, ?, ?)",
      day,
      team,
      JSON.stringify({ ...sum, ...(user !== undefined && { team_user: user }) }),
    );
  }

  /** Counts a run of a user, for reports by user. */
  addOfUser(team: string, user: string, { day, ...usage }: DayUsage): void {
    const stored = this.#db.first<{ record: string }>(
      "select record from user_usage where day = ? and team = ? and user = ?",
      day,
      team,
      user,
    );
    const before = stored && (JSON.parse(stored.record) as Omit<DayUsage, "day">);
    this.#db.write(
      "insert or replace into user_usage values (?, ?, ?, ?)",
      day,
      team,
      user,
      JSON.stringify(before ? addDays(before, usage) : usage),
    );
  }

  /** Splits days of teams by the users of the runs. What remains is of runs without a user. */
  *byUser(days: Iterable<TeamUsage>): Iterable<TeamUsage> {
    for (const { team, usage } of wholeDays(days)) {
      let rest = usage;
      const { day } = usage;
      for (const { user, record } of this.#db.each<{ user: string; record: string }>(
        "select user, record from user_usage where day = ? and team = ? and user > ? order by user",
        [day, team, ""],
        (row) => [day, team, row.user],
      )) {
        const of = { day, ...(JSON.parse(record) as Omit<DayUsage, "day">) };
        yield { team, user, usage: of };
        rest = withoutUser(rest, of);
      }
      if (isSome(rest)) yield { team, usage: rest };
    }
  }

  /** @param user only of the teams of this user */
  *between(from: string, to: string, user?: string): Iterable<TeamUsage> {
    const of = user === undefined ? "" : "record ->> '$.team_user' = ? and ";
    const owner = user === undefined ? [] : [user];
    for (const { day, team, record } of this.#db.each<{
      day: string;
      team: string;
      record: string;
    }>(
      `select day, team, record from usage where ${of}(day, team) > (?, ?) and day <= ? order by day, team`,
      [...owner, from, "", to],
      (row) => [...owner, row.day, row.team, to],
    )) {
      yield { team, usage: { day, ...(JSON.parse(record) as Omit<DayUsage, "day">) } };
    }
  }
}

/** The usage of one run, counted on the day it ended. */
export function usageOf(run: ListedRun): DayUsage {
  const { turns, ended_at, created_at } = run;
  return onDay(ended_at ?? created_at, run, { runs: 1, turns });
}

/** The usage of a run after its end, counted on the day it was used. */
export function laterUsageOf(later: LaterUsage): DayUsage {
  return onDay(later.at, later, { runs: 0, turns: 0 });
}

function onDay(
  at: string,
  { usage, models }: Pick<ListedRun, "usage" | "models">,
  counted: Pick<UsageTotals, "runs" | "turns">,
): DayUsage {
  return {
    day: dayOf(at),
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

/** Each day of a team once: a team that was deleted and made again has usage of the day in two places. */
function wholeDays(days: Iterable<TeamUsage>): Iterable<TeamUsage> {
  const whole = new Map<string, TeamUsage>();
  for (const { team, usage } of days) {
    const key = JSON.stringify([team, usage.day]);
    const before = whole.get(key);
    whole.set(key, { team, usage: before === undefined ? usage : addDays(before.usage, usage) });
  }
  return whole.values();
}

/** A day's usage without a share of it. Models that only the share has called are left out. */
function withoutUser(day: DayUsage, share: DayUsage): DayUsage {
  const models = Object.entries(day.models)
    .map(([name, usage]): [string, UsageTotals] => {
      const of = Object.hasOwn(share.models, name) ? share.models[name] : undefined;
      return [name, of === undefined ? usage : subtract(usage, of)];
    })
    .filter(([, usage]) => isSome(usage));
  return { ...day, ...subtract(day, share), models: Object.fromEntries(models) };
}

function isSome({ runs, prompt_tokens, completion_tokens }: UsageTotals): boolean {
  return runs > 0 || prompt_tokens > 0 || completion_tokens > 0;
}

function subtract(one: UsageTotals, other: UsageTotals): UsageTotals {
  const cost = other.cost === null ? one.cost : addCosts(one.cost, -other.cost);
  return {
    runs: one.runs - other.runs,
    turns: one.turns - other.turns,
    ...subtractUsage(one, other),
    cost,
  };
}

/** Groups usage into the rows of a report. */
export function usageReport(
  { from, to, by }: UsageQuery,
  days: Iterable<TeamUsage>,
): Result<UsageReport> {
  const groups = new Map<string, UsageReport["usage"][number]>();
  let total = NOTHING;
  for (const { team, user, usage } of days) {
    total = add(total, usage);
    const parts: [model: string | undefined, UsageTotals][] = by.includes("model")
      ? Object.entries(usage.models)
      : [[undefined, usage]];
    for (const [model, used] of parts) {
      const of = nameOf(by, { day: usage.day, team, user, model });
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
  names: { day: string; team: string; model: string | undefined; user: string | undefined },
): { day?: string; team?: string; model?: string; user?: string } {
  return {
    ...(by.includes("day") && { day: names.day }),
    ...(by.includes("team") && { team: names.team }),
    ...(by.includes("user") && names.user !== undefined && { user: names.user }),
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
