import type { RunTotals } from "troupe/client";
import { costOf, counted, durationOf, failureRate, tokensOf } from "../parts/numbers.ts";
import { Problem } from "../parts/problem.tsx";
import { endedIn } from "./added-totals.ts";
import { hasRange, type RunFilter } from "./filter.ts";
import { useFurtherCount } from "./use-further-count.ts";

/** The most runs that the server looks at for one answer. */
const LOOKED_AT = 10_000;

interface RunTotalsProps {
  totals: RunTotals;
  /** The filter of the totals. */
  filter: RunFilter;
}

/** The totals of all runs that match the filter. */
export function RunTotalsLine({ totals: first, filter }: RunTotalsProps) {
  const { totals, pieces, counting, error, start, stop } = useFurtherCount(filter, first);
  const among = totals.complete ? "" : ` among the latest ${(pieces * LOOKED_AT).toLocaleString()}`;
  const inRange = hasRange(filter);
  const { runs, failed, open, cost } = totals;
  const parts = [
    `${counted(runs, "run")}${inRange ? " ended" : ""}${among}`,
    ...(open > 0 ? [`${open.toLocaleString()} ${inRange ? "more " : ""}open`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString()} failed (${failureRate(totals)})`] : []),
    tokensOf(totals),
    ...(cost === null ? [] : [costOf(cost)]),
    ...percentilesIn(totals),
  ];
  return (
    <div className="counted">
      <p className="muted totals" aria-label="Total" aria-busy={counting}>
        {parts.map((part) => (
          <span key={part}>{part}</span>
        ))}
      </p>
      {!totals.complete && (
        <button className="button" type="button" onClick={counting ? stop : start}>
          {counting ? "Stop looking" : "Look further"}
        </button>
      )}
      <Problem error={error} />
    </div>
  );
}

function percentilesIn(totals: RunTotals): string[] {
  const { p50_seconds: p50, p95_seconds: p95 } = totals;
  if (p50 === null || p95 === null) {
    return endedIn(totals) === 0 ? [] : ["p50 and p95 can't be added up"];
  }
  return [`p50 ${durationOf(p50 * 1_000)}`, `p95 ${durationOf(p95 * 1_000)}`];
}
