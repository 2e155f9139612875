import type { UsageReport } from "troupe/client";

type Row = UsageReport["usage"][number];
export type Totals = UsageReport["total"];

export const MEASURES = {
  tokens: "Tokens",
  cost: "Cost",
  runs: "Runs",
  turns: "Turns",
} as const;

export type Measure = keyof typeof MEASURES;

export function amountOf(totals: Totals, measure: Measure): number {
  if (measure === "tokens") return totals.prompt_tokens + totals.completion_tokens;
  return totals[measure] ?? 0;
}

/** The usage of a team or model in the period. */
export interface Group extends Totals {
  /** The team or model; undefined if all are one group. */
  name: string | undefined;
}

/** The groups of a report, largest first. */
export function groupsOf(
  { usage, total }: UsageReport,
  by: "team" | "model" | undefined,
  measure: Measure,
): Group[] {
  if (by === undefined) return [{ name: undefined, ...total }];
  const groups = new Map<string, Group>();
  for (const row of usage) {
    const name = row[by] ?? "";
    const group = groups.get(name);
    groups.set(name, group === undefined ? { ...row, name } : { ...added(group, row), name });
  }
  return [...groups.values()].toSorted((a, b) => amountOf(b, measure) - amountOf(a, measure));
}

function added(a: Totals, b: Totals): Totals {
  return {
    runs: a.runs + b.runs,
    turns: a.turns + b.turns,
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    cached_tokens: (a.cached_tokens ?? 0) + (b.cached_tokens ?? 0),
    reasoning_tokens: (a.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0),
    cost: a.cost === null || b.cost === null ? (a.cost ?? b.cost) : a.cost + b.cost,
  };
}

/** A series of the chart: a part of each day's column. */
export interface Series {
  name: string | undefined;
  /** The values by day. */
  amounts: readonly number[];
}

/** The most series with their own colours. The others are combined. */
const MOST = 6;
export const OTHERS = "Others";

/** The usage of each group per day. */
export function seriesOf(
  { usage }: UsageReport,
  days: readonly string[],
  groups: readonly Group[],
  by: "team" | "model" | undefined,
  measure: Measure,
): Series[] {
  const used = groups.filter((group) => amountOf(group, measure) > 0);
  const kept = used.slice(0, used.length > MOST ? MOST - 1 : MOST);
  const names: (string | undefined)[] = kept.map(({ name }) => name);
  if (kept.length < used.length) names.push(OTHERS);
  const place = new Map(days.map((day, index) => [day, index]));
  const series = names.map((name) => ({ name, amounts: days.map(() => 0) }));
  const nameOf = (row: Row): string | undefined => (by === undefined ? undefined : (row[by] ?? ""));
  for (const row of usage) {
    const index = place.get(row.day ?? "");
    const own = names.indexOf(nameOf(row));
    const { amounts } = series[own === -1 ? series.length - 1 : own] ?? {};
    if (index === undefined || amounts === undefined) continue;
    amounts[index] = (amounts[index] ?? 0) + amountOf(row, measure);
  }
  return series;
}
