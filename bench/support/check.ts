import { readFileSync } from "node:fs";
import { PAGE } from "./tables.ts";
import { type Goal, number, type Report } from "./report.ts";

/** Measurements of each section: their spread says which difference means something. */
const MEASUREMENTS = 3;
/** Two measurements may agree by chance: a smaller difference never counts. */
const LEAST_SPREAD = 0.05;
/** Units of figures that another machine has others of. */
const OF_THE_MACHINE = /^(ms|s|MB|per second)\b/;

/**
 * Measures a section several times and compares its ratios and sizes with those in `bench/results.md`.
 *
 * @returns a line for each figure that is worse by more than the spread of the measurements
 */
export async function worsened(section: string, measure: () => Promise<Report>): Promise<string[]> {
  const taken: Goal[][] = [];
  for (let count = 0; count < MEASUREMENTS; count++) {
    const { goals } = await measure();
    taken.push([...goals]);
  }
  const recorded = recordedGoals(readFileSync(PAGE, "utf8"), section);
  const [goals = []] = taken;
  return goals.flatMap((goal) => {
    const before = recorded.get(goal.what);
    if (before === undefined || OF_THE_MACHINE.test(goal.unit)) return [];
    const values = taken.flatMap((all) => all.find(({ what }) => what === goal.what)?.value ?? []);
    const line = comparison(goal, before, values);
    return line === undefined ? [] : [`${section}, ${line}`];
  });
}

/** The line for a figure that got worse; undefined for another. */
export function comparison(
  { what, unit, limit }: Pick<Goal, "what" | "unit" | "limit">,
  before: number,
  values: readonly number[],
): string | undefined {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const spread = Math.max(LEAST_SPREAD * before, high - low);
  const isMost = "atMost" in limit;
  const best = isMost ? low : high;
  const worse = isMost ? best - before : before - best;
  if (worse <= spread) return undefined;
  return `${what}: ${number(before)} before, now ${number(best)} ${unit} (spread ${number(spread)})`;
}

/** The figures of a section's goals on the page. */
export function recordedGoals(page: string, section: string): Map<string, number> {
  const [, place = ""] =
    new RegExp(`<!-- bench:${section} -->\n([^]*?)<!-- /bench:${section} -->`).exec(page) ?? [];
  const [, rows = ""] = /^\| goal [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m.exec(place) ?? [];
  const goals = new Map<string, number>();
  for (const [, what = "", figure = ""] of rows.matchAll(/^\| (.+?) +\| (-?[\d,.]+)/gm))
    goals.set(what, Number(figure.replaceAll(",", "")));
  return goals;
}
