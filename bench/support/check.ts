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
 * @param page the tables with the figures before
 * @returns a line for each figure that is worse by more than the spread of the measurements, or that the page has in another unit
 */
export async function worsened(
  section: string,
  measure: () => Promise<Pick<Report, "goals">>,
  page = readFileSync(PAGE, "utf8"),
): Promise<string[]> {
  const taken: Goal[][] = [];
  for (let count = 0; count < MEASUREMENTS; count++) {
    const { goals } = await measure();
    taken.push([...goals]);
  }
  const recorded = recordedGoals(page, section);
  const [goals = []] = taken;
  return goals.flatMap((goal) => {
    const before = recorded.get(goal.what);
    if (before === undefined || OF_THE_MACHINE.test(goal.unit)) return [];
    if (before.unit !== goal.unit)
      return [
        `${section}, ${goal.what}: the page has it in ${before.unit}; measure its table again`,
      ];
    const values = taken.flatMap((all) => all.find(({ what }) => what === goal.what)?.value ?? []);
    const line = comparison(goal, before.value, values);
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

/** The figures of a section's goals on the page, with their units. */
export function recordedGoals(
  page: string,
  section: string,
): Map<string, { value: number; unit: string }> {
  const [, place = ""] =
    new RegExp(`<!-- bench:${section} -->\n([^]*?)<!-- /bench:${section} -->`).exec(page) ?? [];
  const [, rows = ""] = /^\| goal [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m.exec(place) ?? [];
  const goals = new Map<string, { value: number; unit: string }>();
  for (const [, what = "", figure = "", unit = ""] of rows.matchAll(
    /^\| (.+?) +\| (-?[\d,.]+) ?(.*?) *\|/gm,
  ))
    goals.set(what, { value: Number(figure.replaceAll(",", "")), unit });
  return goals;
}
