import type { RunTotals } from "troupe/client";

/** The totals of runs and of those that were looked at after them. */
export function addedTotals(first: RunTotals, next: RunTotals): RunTotals {
  return {
    runs: first.runs + next.runs,
    completed: first.completed + next.completed,
    failed: first.failed + next.failed,
    cancelled: first.cancelled + next.cancelled,
    turns: first.turns + next.turns,
    prompt_tokens: first.prompt_tokens + next.prompt_tokens,
    completion_tokens: first.completion_tokens + next.completion_tokens,
    ...addedPart("cached_tokens", first, next),
    ...addedPart("reasoning_tokens", first, next),
    ...addedPart("estimated_tokens", first, next),
    cost:
      first.cost === null || next.cost === null
        ? (first.cost ?? next.cost)
        : first.cost + next.cost,
    seconds: first.seconds + next.seconds,
    ...percentilesOf(first, next),
    // All open runs that match, whichever runs were looked at.
    open: next.open,
    complete: next.complete,
    next_cursor: next.next_cursor,
  };
}

type Part = "cached_tokens" | "reasoning_tokens" | "estimated_tokens";

/** A part of the tokens, which totals leave out where no run has it. */
function addedPart(part: Part, first: RunTotals, next: RunTotals): Partial<Record<Part, number>> {
  if (first[part] === undefined && next[part] === undefined) return {};
  return { [part]: (first[part] ?? 0) + (next[part] ?? 0) };
}

/** Percentiles of two counts are those of one of them if no run has ended in the other; otherwise they are not known. */
function percentilesOf(
  first: RunTotals,
  next: RunTotals,
): Pick<RunTotals, "p50_seconds" | "p95_seconds"> {
  const known = endedIn(next) === 0 ? first : endedIn(first) === 0 ? next : undefined;
  return { p50_seconds: known?.p50_seconds ?? null, p95_seconds: known?.p95_seconds ?? null };
}

/** The number of runs with an outcome. */
export function endedIn({ completed, failed, cancelled }: RunTotals): number {
  return completed + failed + cancelled;
}
