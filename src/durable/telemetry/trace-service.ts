import { ok, type Result } from "../../contract/result.ts";
import type { RunTrace } from "../../contract/trace.ts";
import type { CostOf } from "../../contract/usage/model-usage.ts";
import { queueSpans, recoverySpans, runSpan, turnSpans } from "../../telemetry/run-spans.ts";
import { shownSpan } from "../../telemetry/run-trace.ts";
import type { Span } from "../../telemetry/span.ts";
import { traceIdOf } from "../../telemetry/span-ids.ts";
import { parseTraceparent } from "../../telemetry/trace-context.ts";
import { invalidCursor, runNotFound } from "../object/refusals.ts";
import type { RunController } from "../run/run-controller.ts";
import type { RunRecord } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";
import { finishedTurns, givenUpTurn, tracedRun, turnInProgress } from "./traced-run.ts";

/** Shows what runs did. */
export class TraceService {
  readonly #stores: Stores;
  readonly #controller: Pick<RunController, "active">;
  readonly #costOf: CostOf;

  constructor(stores: Stores, controller: Pick<RunController, "active">, costOf: CostOf) {
    this.#stores = stores;
    this.#controller = controller;
    this.#costOf = costOf;
  }

  /** A page of at most `limit` turns; the turn in progress, or given up, comes last. */
  trace(id: string, { cursor, limit }: { cursor?: string; limit: number }): Result<RunTrace> {
    const stored = this.#stores.runs.byId(id);
    if (stored === undefined) return runNotFound();
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return invalidCursor();
    const { active } = this.#controller;
    const own = active?.record.id === id ? active : undefined;
    const record = own?.record ?? stored.record;
    const run = tracedRun(record);
    const spans: Span[] = [];
    if (cursor === undefined) {
      spans.push(runSpan(run), ...queueSpans(run), ...recoverySpans(run));
    }
    const turns = [
      ...finishedTurns(this.#stores, { ...stored, record }, Number(cursor ?? 0), limit + 1),
    ];
    const more = turns.length > limit;
    const last = more ? undefined : own ? turnInProgress(own) : givenUpTurn(record);
    const shown = [...turns.slice(0, limit), ...(last ? [last] : [])];
    spans.push(...shown.flatMap((turn) => turnSpans(id, turn)));
    return ok({
      run_id: id,
      team_id: this.#stores.team.record.id,
      trace_id: traceOf(record),
      spans: spans.map((span) => shownSpan(span, this.#costOf)),
      dropped_spans: shown.reduce((sum, { dropped }) => sum + dropped, 0),
      next_cursor: more ? String(shown.at(-1)?.turn ?? 0) : null,
    });
  }
}

/** The trace that a run belongs to. */
export function traceOf({ id, trace }: RunRecord): string {
  return parseTraceparent(trace?.context?.traceparent)?.trace ?? traceIdOf(id);
}
