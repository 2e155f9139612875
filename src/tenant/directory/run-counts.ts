import type { RunQuery } from "../../contract/directory.ts";
import type { TenantInfo } from "../../contract/tenant/tenant.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import {
  addCounted,
  type Counted,
  type DayUsage,
  NONE_COUNTED,
  type Outcome,
  type OutcomeUsage,
} from "../usage/day-usage.ts";
import { LAST_DAY } from "../usage/day-totals.ts";
import { percentileOf } from "../usage/durations.ts";
import type { UsageStore } from "../usage/usage-store.ts";
import type { Directory } from "./directory.ts";
import type { SomeTotals } from "./run-facts.ts";

const DAY_MS = 86_400_000;

/** First and last day, both included. */
interface Days {
  from: string;
  to: string;
}

/** The totals of runs that have ended, from the counters of their days instead of the runs. */
export class RunCounts {
  readonly #directory: Directory;
  readonly #usage: UsageStore;

  constructor(directory: Directory, usage: UsageStore) {
    this.#directory = directory;
    this.#usage = usage;
  }

  /** Undefined for a filter that days are not counted by. */
  totals(query: Omit<RunQuery, "limit">): SomeTotals | undefined {
    const days = wholeDays(query);
    if (days === undefined) return undefined;
    const { all, runs } = this.#sum(days, query);
    const { milliseconds, durations } = all;
    return {
      runs: all.runs,
      completed: runs("completed"),
      failed: runs("failed"),
      cancelled: runs("cancelled"),
      turns: all.turns,
      ...addUsage(NONE_COUNTED, all),
      cost: all.cost,
      seconds: milliseconds / 1000,
      p50_seconds: seconds(percentileOf(durations, 0.5)),
      p95_seconds: seconds(percentileOf(durations, 0.95)),
    };
  }

  /** The usage of the runs that have ended on a day. */
  onDay(day: string): TenantInfo["today"] {
    const { all, runs } = this.#sum({ from: day, to: day }, {});
    const { cost } = all;
    return { day, runs: all.runs, failed: runs("failed"), ...addUsage(NONE_COUNTED, all), cost };
  }

  #sum(
    days: Days,
    query: Pick<RunQuery, "status" | "model" | "team" | "team_user">,
  ): { all: Counted; runs: (outcome: Outcome) => number } {
    const { status, model } = query;
    const sums = new Map<Outcome, Counted>();
    for (const { outcomes } of this.#between(days, query)) {
      for (const [name, usage] of Object.entries(outcomes) as [Outcome, OutcomeUsage][]) {
        if (status !== undefined && name !== status) continue;
        const counted = model === undefined ? usage : ofModel(usage, model);
        if (counted) sums.set(name, addCounted(sums.get(name) ?? NONE_COUNTED, counted));
      }
    }
    return {
      all: [...sums.values()].reduce(addCounted, NONE_COUNTED),
      runs: (outcome) => sums.get(outcome)?.runs ?? 0,
    };
  }

  *#between(
    { from, to }: Days,
    { team, team_user }: Pick<RunQuery, "team" | "team_user">,
  ): Iterable<DayUsage> {
    if (team === undefined && team_user === undefined) {
      yield* this.#directory.days.between(from, to);
      return;
    }
    const inRange = ({ day }: DayUsage): boolean => day >= from && day <= to;
    if (team_user !== undefined) {
      const all = [
        ...this.#usage.between(from, to, team_user),
        ...this.#directory.lastDays(Date.parse(from), team_user),
      ];
      for (const row of all) {
        if ((team === undefined || row.team === team) && inRange(row.usage)) yield row.usage;
      }
      return;
    }
    if (team === undefined) return;
    for (const { day } of this.#directory.days.between(from, to)) {
      const usage = this.#usage.get(team, day);
      if (usage !== undefined) yield usage;
    }
    const { day: last } = this.#directory.activityOf(team);
    if (last !== null && inRange(last)) yield last;
  }
}

/** The totals of two disjoint sets of runs. The second have no durations. */
export function withOpen(ended: SomeTotals, open: SomeTotals): SomeTotals {
  return {
    ...ended,
    runs: ended.runs + open.runs,
    turns: ended.turns + open.turns,
    ...addUsage(ended, open),
    cost: addCosts(ended.cost, open.cost),
  };
}

/** The days of a query without other filters than those of the counters; undefined for parts of days. */
function wholeDays({
  from,
  to,
  since,
  q,
  error,
  min_cost,
  totals_after,
}: Omit<RunQuery, "limit">): Days | undefined {
  if ([since, q, error, min_cost, totals_after].some((value) => value !== undefined)) {
    return undefined;
  }
  const [first = 0, end = Date.parse(LAST_DAY) + DAY_MS - 1] = [from, to];
  if (first % DAY_MS !== 0 || (end + 1) % DAY_MS !== 0) return undefined;
  return { from: dayAt(first), to: dayAt(end) };
}

export function dayAt(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function ofModel({ models }: OutcomeUsage, model: string): Counted | undefined {
  return Object.hasOwn(models, model) ? models[model] : undefined;
}

function seconds(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Number((milliseconds / 1000).toFixed(3));
}
