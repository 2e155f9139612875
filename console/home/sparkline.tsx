import { counted } from "../parts/numbers.ts";
import { type DayOfRuns, useDays } from "./use-days.ts";

const HEIGHT = 32;
const STEP = 10;
const WIDTH = 7;
/** A day with runs is visible beside a day with many. */
const LOWEST = 2;

/** The runs of the last days as bars, whose red parts are the failed ones; nothing without runs. */
export function Sparkline() {
  const days = useDays();
  const most = Math.max(0, ...(days ?? []).map(({ runs }) => runs));
  if (days === undefined || most === 0) return null;
  const heightOf = (runs: number): number =>
    runs === 0 ? 0 : Math.max(LOWEST, (runs / most) * HEIGHT);
  return (
    <svg
      className="sparkline"
      role="img"
      preserveAspectRatio="none"
      aria-label={inWords(days)}
      viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
    >
      {days.map((day, index) => {
        const { runs, failed } = day;
        if (runs === 0) return null;
        const [all, bad] = [heightOf(runs), heightOf(failed)];
        const x = index * STEP;
        const isToday = index === days.length - 1;
        return (
          <g key={day.day} data-today={isToday || undefined}>
            <title>{dayInWords(day, isToday)}</title>
            <rect x={x} y={HEIGHT - all} width={WIDTH} height={all} />
            <rect className="failed" x={x} y={HEIGHT - bad} width={WIDTH} height={bad} />
          </g>
        );
      })}
    </svg>
  );
}

/** The days with runs: those of the others are none. */
function inWords(days: readonly DayOfRuns[]): string {
  const parts = days.flatMap((day, index) =>
    day.runs === 0 ? [] : [dayInWords(day, index === days.length - 1)],
  );
  return `Runs of the last ${days.length} days: ${parts.join("; ")}`;
}

function dayInWords({ day, runs, failed }: DayOfRuns, isToday: boolean): string {
  const name = isToday ? "today, not finished" : day;
  return `${name}: ${counted(runs, "run")}, ${failed.toLocaleString()} failed`;
}
