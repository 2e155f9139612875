import { invalidCursor, ok, type Result, runNotFound } from "../../../contract/result.ts";
import type { RunTrace } from "../../../contract/team/trace.ts";
import type { CostOf } from "../../../contract/usage/model-usage.ts";
import {
  queueSpans,
  recoverySpans,
  runSpan,
  turnSpans,
} from "../../../telemetry/spans/run-spans.ts";
import { shownSpan, type Span } from "../../../telemetry/spans/span.ts";
import { traceIdOf } from "../../../telemetry/spans/trace-context.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import type { Stores } from "../../storage/stores.ts";
import {
  finishedTurns,
  givenUpTurn,
  tracedRun,
  turnInProgress,
} from "../../engine/views/turn-report.ts";

interface Parts {
  stores: Stores;
  engine: Pick<RunEngine, "active">;
  costOf: CostOf;
}

/** The trace of a run: a page of at most `limit` turns; the turn in progress, or given up, comes last. */
export function traceOfRun(
  { stores, engine, costOf }: Parts,
  id: string,
  { cursor, limit }: { cursor?: string; limit: number },
): Result<RunTrace> {
  const stored = stores.runs.byId(id);
  if (stored === undefined) return runNotFound();
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return invalidCursor();
  const active = engine.active?.record.id === id ? engine.active : undefined;
  const record = active?.record ?? stored.record;
  const run = tracedRun(record);
  const spans: Span[] = [];
  if (cursor === undefined) spans.push(runSpan(run), ...queueSpans(run), ...recoverySpans(run));
  const turns = [...finishedTurns(stores, { ...stored, record }, Number(cursor ?? 0), limit + 1)];
  const more = turns.length > limit;
  const last = more ? undefined : active ? turnInProgress(active) : givenUpTurn(record);
  const visible = [...turns.slice(0, limit), ...(last ? [last] : [])];
  spans.push(...visible.flatMap((turn) => turnSpans(id, turn)));
  return ok({
    run_id: id,
    team_id: stores.team.record.id,
    trace_id: traceIdOf(id, record.trace?.context),
    spans: spans.map((span) => shownSpan(span, costOf)),
    dropped_spans: visible.reduce((sum, { dropped }) => sum + dropped, 0),
    next_cursor: more ? String(visible.at(-1)?.turn ?? 0) : null,
  });
}
