import type { RunTotals } from "troupe/client";
import { costOf, counted, durationOf, shareOf, tokensOf } from "../parts/numbers.ts";

/** The totals of all runs that match the filters. */
export function RunTotalsLine({ totals }: { totals: RunTotals }) {
  const { runs, failed, cost, p50_seconds, p95_seconds, complete } = totals;
  const parts = [
    `${counted(runs, "run")}${complete ? "" : " among the latest 10,000"}`,
    ...(failed > 0 ? [`${failed.toLocaleString()} failed (${failureRate(totals)})`] : []),
    tokensOf(totals),
    ...(cost === null ? [] : [costOf(cost)]),
    ...(p50_seconds === null ? [] : [`p50 ${durationOf(p50_seconds * 1_000)}`]),
    ...(p95_seconds === null ? [] : [`p95 ${durationOf(p95_seconds * 1_000)}`]),
  ];
  return (
    <p className="muted totals" aria-label="Total">
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
    </p>
  );
}

/** The share of the runs with an outcome that failed. */
export function failureRate({ completed, failed, cancelled }: RunTotals): string {
  return shareOf(failed, completed + failed + cancelled);
}
