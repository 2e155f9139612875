import type { LaterUsage, ListedRun } from "../../contract/directory.ts";
import type { RunStatus } from "../../contract/run.ts";
import { addCosts, totalCost } from "../../contract/usage/model-usage.ts";
import type { UsageTotals } from "../../contract/usage/usage-report.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import { addDurations, type Durations, durationsOf, NO_DURATIONS } from "./durations.ts";

/**
 * The outcome of runs. `earlier`: an earlier version has counted them without their outcome, and they are not listed any more,
 * because their team was deleted.
 */
export type Outcome = Extract<RunStatus, "completed" | "failed" | "cancelled"> | "earlier";

/** The usage of runs, and how long they took. */
export interface Counted extends UsageTotals {
  milliseconds: number;
  durations: Durations;
}

export interface OutcomeUsage extends Counted {
  /** The usage of each model, of the runs that called it. */
  models: { readonly [model: string]: Counted };
}

/** The usage of the runs that ended on one day (UTC), of one team or of several. */
export interface DayUsage {
  day: string;
  /** When the first of the runs was created, epoch milliseconds; null if none is known. */
  first: number | null;
  outcomes: { readonly [Name in Outcome]?: OutcomeUsage };
}

/** Usage without outcomes: what reports add up. */
export interface UsedOnDay extends UsageTotals {
  day: string;
  models: { readonly [model: string]: UsageTotals };
}

export const NOTHING: UsageTotals = {
  runs: 0,
  turns: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost: null,
};

export const NONE_COUNTED: Counted = { ...NOTHING, milliseconds: 0, durations: NO_DURATIONS };

/** The day of a time, UTC. @param time ISO 8601 UTC */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}

/** The usage of one run, counted on the day it ended. */
export function usageOf(run: ListedRun): DayUsage {
  const { status, turns, created_at, started_at, ended_at } = run;
  const end = ended_at ?? created_at;
  const milliseconds = started_at === null ? 0 : Date.parse(end) - Date.parse(started_at);
  const durations = started_at === null ? NO_DURATIONS : durationsOf(milliseconds);
  const first = Date.parse(created_at);
  return onDay(end, run, { status, first, runs: 1, turns, milliseconds, durations });
}

/** The usage of a run after its end, counted on the day it was used. */
export function laterUsageOf({ status }: ListedRun, later: LaterUsage): DayUsage {
  const none = { runs: 0, turns: 0, milliseconds: 0, durations: NO_DURATIONS };
  return onDay(later.at, later, { status, first: null, ...none });
}

function onDay(
  at: string,
  { usage, models }: Pick<ListedRun, "usage" | "models">,
  {
    status,
    first,
    ...counted
  }: Pick<DayUsage, "first"> & { status: RunStatus } & Omit<Counted, keyof typeof usage | "cost">,
): DayUsage {
  const of = Object.entries(models).map(([name, used]) => [name, { ...counted, ...used }] as const);
  return {
    day: dayOf(at),
    first,
    outcomes: {
      [status]: {
        ...counted,
        ...usage,
        cost: totalCost(models),
        models: Object.fromEntries(of),
      },
    },
  };
}

/** Adds two usages of the same day. */
export function addDays(one: DayUsage, other: DayUsage): DayUsage {
  const outcomes: { [Name in Outcome]?: OutcomeUsage } = { ...one.outcomes };
  for (const [name, usage] of Object.entries(other.outcomes) as [Outcome, OutcomeUsage][]) {
    const before = outcomes[name];
    outcomes[name] =
      before === undefined
        ? usage
        : {
            ...addCounted(before, usage),
            models: addModels(before, usage, { none: NONE_COUNTED, add: addCounted }),
          };
  }
  return { day: one.day, first: earliest(one.first, other.first), outcomes };
}

export function earliest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

export function addCounted(one: Counted, other: Counted): Counted {
  return {
    ...addTotals(one, other),
    milliseconds: one.milliseconds + other.milliseconds,
    durations: addDurations(one.durations, other.durations),
  };
}

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return {
    runs: one.runs + other.runs,
    turns: one.turns + other.turns,
    ...addUsage(one, other),
    cost: addCosts(one.cost, other.cost),
  };
}

/** Adds usage without outcomes, of the same day. */
export function addUsed<Used extends Omit<UsedOnDay, "day">>(
  one: Used,
  other: Omit<UsedOnDay, "day">,
): Used {
  const models = addModels<UsageTotals>(one, other, { none: NOTHING, add: addTotals });
  return { ...one, ...addTotals(one, other), models };
}

/** The usage of a day, whatever the outcomes of its runs. */
export function usedOn({ day, outcomes }: DayUsage): UsedOnDay {
  let sum: UsedOnDay = { day, ...NOTHING, models: {} };
  for (const usage of Object.values(outcomes)) {
    sum = addUsed(sum, usage);
  }
  return sum;
}

/** Reads own properties only: a model may have any name, including that of a property of every object. */
function addModels<Of>(
  one: { models: { readonly [model: string]: Of } },
  other: { models: { readonly [model: string]: Of } },
  { none, add }: { none: Of; add: (left: Of, right: Of) => Of },
): { [model: string]: Of } {
  const sum = new Map(Object.entries(one.models));
  for (const [name, used] of Object.entries(other.models)) {
    sum.set(name, add(sum.get(name) ?? none, used));
  }
  return Object.fromEntries(sum);
}
