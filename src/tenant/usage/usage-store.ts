import type { UsageTotals } from "../../contract/usage/usage-report.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import { subtractUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";
import { addDays, addUsed, type DayUsage, type UsedOnDay } from "./day-usage.ts";

/** The usage of a team's day, or the share of it that is known to be one user's. */
export interface TeamUsage {
  team: string;
  user?: string;
  usage: UsedOnDay;
  /** The runs that failed, where they are counted. */
  failed?: number;
}

/**
 * Usage of a team's earlier days. The usage of its last day is in the team's row of the list, which the end of a run
 * writes anyway.
 */
export class UsageStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  put(team: string, usage: DayUsage, user: string | undefined): void {
    const before = this.get(team, usage.day);
    const { day, ...sum } = before === undefined ? usage : addDays(before, usage);
    this.#db.write(
      "insert or replace into usage values (?, ?, ?)",
      day,
      team,
      JSON.stringify({ ...sum, ...(user !== undefined && { team_user: user }) }),
    );
  }

  get(team: string, day: string): DayUsage | undefined {
    const stored = this.#db.first<{ record: string }>(
      "select record from usage where day = ? and team = ?",
      day,
      team,
    );
    return stored && { day, ...(JSON.parse(stored.record) as Omit<DayUsage, "day">) };
  }

  /** Counts a run of a user, for reports by user. */
  addOfUser(team: string, user: string, { day, ...usage }: UsedOnDay): void {
    const stored = this.#db.first<{ record: string }>(
      "select record from user_usage where day = ? and team = ? and user = ?",
      day,
      team,
      user,
    );
    const before = stored && (JSON.parse(stored.record) as Omit<UsedOnDay, "day">);
    this.#db.write(
      "insert or replace into user_usage values (?, ?, ?, ?)",
      day,
      team,
      user,
      JSON.stringify(before ? addUsed(before, usage) : usage),
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
        const of = { day, ...(JSON.parse(record) as Omit<UsedOnDay, "day">) };
        yield { team, user, usage: of };
        rest = withoutUser(rest, of);
      }
      if (isSome(rest)) yield { team, usage: rest };
    }
  }

  /** @param user only of the teams of this user */
  *between(from: string, to: string, user?: string): Iterable<{ team: string; usage: DayUsage }> {
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

/** Each day of a team once: a team that was deleted and made again has usage of the day in two places. */
function wholeDays(days: Iterable<TeamUsage>): Iterable<TeamUsage> {
  const whole = new Map<string, TeamUsage>();
  for (const { team, usage } of days) {
    const key = JSON.stringify([team, usage.day]);
    const before = whole.get(key);
    whole.set(key, { team, usage: before === undefined ? usage : addUsed(before.usage, usage) });
  }
  return whole.values();
}

/** A day's usage without a share of it. Models that only the share has called are left out. */
function withoutUser(day: UsedOnDay, share: UsedOnDay): UsedOnDay {
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
