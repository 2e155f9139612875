import { type Refused } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";
import type { Directory } from "../directory/directory.ts";
import { dayOf, usedOn } from "../usage/day-usage.ts";
import type { UsageStore } from "../usage/usage-store.ts";

type PeriodKind = "day" | "month";

/** The usage in a period (UTC). */
interface Period {
  /** A day or a month: `2026-11-22` or `2026-11`. */
  name: string;
  tokens: number;
  cost: number;
}

const BUDGETS = [
  { limit: "tokens_per_day", period: "day", counts: "tokens", what: "tokens" },
  { limit: "tokens_per_month", period: "month", counts: "tokens", what: "tokens" },
  { limit: "cost_per_day", period: "day", counts: "cost", what: "costs" },
  { limit: "cost_per_month", period: "month", counts: "cost", what: "costs" },
] as const;

type Budget = (typeof BUDGETS)[number];

/** The tokens and the cost of this day and this month: added up from the stored usage on first use, then counted as runs end. */
export class Spending {
  readonly #directory: Directory;
  readonly #usage: UsageStore;
  readonly #periods = new Map<PeriodKind, Period>();

  constructor(directory: Directory, usage: UsageStore) {
    this.#directory = directory;
    this.#usage = usage;
  }

  /** Adds a run that has ended. @param ended_at ISO 8601 UTC */
  add(ended_at: string, usage: RequestUsage, cost: number | null): void {
    for (const period of this.#periods.values()) {
      if (ended_at.startsWith(period.name)) count(period, usage, cost);
    }
  }

  /** @param open what the runs that have not ended cost */
  refuse(limits: TenantLimits, now: number, open: number): Refused | undefined {
    const reached = BUDGETS.find((budget) => (this.#left(budget, limits, now, open) ?? 1) <= 0);
    return reached && refusal(reached, limits, now);
  }

  /** The money that is left, and the refusal of what costs more; undefined without a budget in money. */
  money(
    limits: TenantLimits,
    now: number,
    open: number,
  ): { left: number; refuse: () => Refused } | undefined {
    let least: { left: number; refuse: () => Refused } | undefined;
    for (const budget of BUDGETS) {
      const left = budget.counts === "cost" ? this.#left(budget, limits, now, open) : undefined;
      if (left === undefined || (least !== undefined && least.left <= left)) continue;
      least = { left, refuse: () => refusal(budget, limits, now) };
    }
    return least;
  }

  /** The rest of a budget; undefined if it is not set. */
  #left(
    { limit, period, counts }: Budget,
    limits: TenantLimits,
    now: number,
    open: number,
  ): number | undefined {
    const value = limits[limit];
    if (value === null) return undefined;
    const used = this.#period(period, now)[counts];
    return addCosts(value, -(counts === "cost" ? used + open : used)) ?? 0;
  }

  #period(kind: PeriodKind, now: number): Period {
    const today = dayOf(new Date(now).toISOString());
    const name = kind === "day" ? today : today.slice(0, "2026-11".length);
    let period = this.#periods.get(kind);
    if (period?.name !== name) this.#periods.set(kind, (period = this.#sum(kind, name)));
    return period;
  }

  #sum(kind: PeriodKind, name: string): Period {
    const from = kind === "month" ? `${name}-01` : name;
    const to = kind === "month" ? `${name}-31` : name;
    const period = { name, tokens: 0, cost: 0 };
    const days = [...this.#usage.between(from, to), ...this.#directory.lastDays(Date.parse(from))];
    for (const { usage } of days) {
      if (!usage.day.startsWith(name)) continue;
      const used = usedOn(usage);
      count(period, used, used.cost);
    }
    return period;
  }
}

function count(
  period: Period,
  { prompt_tokens, completion_tokens }: RequestUsage,
  cost: number | null,
): void {
  period.tokens += prompt_tokens + completion_tokens;
  period.cost = addCosts(period.cost, cost) ?? 0;
}

function refusal({ limit, period, what }: Budget, limits: TenantLimits, now: number): Refused {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const next =
    period === "day" ? Date.UTC(year, month, date.getUTCDate() + 1) : Date.UTC(year, month + 1);
  return limitReached(what, { limit, value: limits[limit] ?? 0, seconds: (next - now) / 1000 });
}
