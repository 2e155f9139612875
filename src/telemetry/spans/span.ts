import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { WebhookEventType } from "../../contract/constants.ts";
import type { TraceSpan } from "../../contract/team/trace.ts";
import { type CostOf, UNNAMED_MODEL } from "../../contract/usage/model-usage.ts";

/** A span of a run. Times are epoch milliseconds. */
export interface Span {
  /** 16 hexadecimal digits, the same whenever the turn runs again. */
  id: string;
  /** Null for the run. */
  parent: string | null;
  kind: TraceSpan["kind"];
  /** By OpenTelemetry's conventions: `chat gpt-4o`. */
  name: string;
  start: number;
  /** Null while it is in progress. */
  end: number | null;
  /** The number of the turn in the team's life; null outside of turns. */
  turn: number | null;
  /** Path below the turn. */
  path: string | null;
  /** `cancelled`, or the kind of error that ended it. */
  error: string | null;
  /** Attempts at a step. */
  attempts: number | null;
  /** True if its result was recorded before an interruption and used again. */
  recovered: boolean;
  /** True if its recorded result was given up, so that the step ran again. */
  discarded: boolean;
  agent: string | null;
  tool: string | null;
  provider: string | null;
  model: string | null;
  tokens: TokenUsage | null;
  /** Parts that the client left out of the request to the model. */
  note?: string;
  /** The messages sent to the model and its answer, if the deployment records them. */
  exchange?: Exchange;
}

/** An attempt to deliver an event of a run to a webhook. Times are epoch milliseconds. */
export interface DeliverySpan {
  id: string;
  /** Id of the run's trace. */
  parent: string;
  kind: "delivery";
  /** By the conventions for HTTP: the method. */
  name: "POST";
  start: number;
  end: number;
  /** The status of a refusal, or `no_answer`. */
  error: string | null;
  webhook: string;
  event: WebhookEventType;
  /** Id of the delivery, the same for all attempts. */
  delivery: string;
  /** From 1. */
  attempt: number;
  host: string;
  port: number;
  status: number | null;
}

/** A span that is sent to a collector. */
export type ReportedSpan = Span | DeliverySpan;

/** The messages sent to a model, and the recorded result of the step. */
export interface Exchange {
  input: readonly LLMMessage[];
  output?: unknown;
}

/** Fields that most spans do not have. */
export const NO_DETAILS = {
  turn: null,
  path: null,
  error: null,
  attempts: null,
  recovered: false,
  discarded: false,
  agent: null,
  tool: null,
  provider: null,
  model: null,
  tokens: null,
} as const;

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
