import type { TraceSpan } from "../contract/trace.ts";
import { type CostOf, UNNAMED_MODEL } from "../contract/usage/model-usage.ts";
import type { Span } from "./span.ts";

/** A span as the API shows it. */
export function shownSpan(span: Span, costOf: CostOf): TraceSpan {
  const { start, end, tokens, model, error } = span;
  return {
    span_id: span.id,
    parent_span_id: span.parent,
    kind: span.kind,
    name: span.name,
    status: statusOf(span),
    error_type: error === "cancelled" ? null : error,
    started_at: new Date(start).toISOString(),
    ended_at: end === null ? null : new Date(end).toISOString(),
    duration_ms: end === null ? null : Math.max(0, end - start),
    turn: span.turn,
    path: span.path,
    attempts: span.attempts,
    recovered: span.recovered,
    discarded: span.discarded,
    agent: span.agent,
    tool: span.tool,
    provider: span.provider,
    model,
    usage: tokens,
    cost: tokens === null ? null : costOf(model ?? UNNAMED_MODEL, tokens),
    ...(span.note !== undefined && { note: span.note }),
  };
}

function statusOf({ error, end }: Span): TraceSpan["status"] {
  if (error === "cancelled") return "cancelled";
  if (error !== null) return "error";
  return end === null ? "running" : "ok";
}
