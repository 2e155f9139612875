import type { LLMMessage } from "../core/models/llm-messages.ts";
import type { TokenUsage } from "../core/models/request-usage.ts";
import type { WebhookEventType } from "../contract/constants.ts";
import type { SpanKind } from "../contract/trace.ts";

/** A span of a run. Times are epoch milliseconds. */
export interface Span {
  /** 16 hexadecimal digits: the same ones whenever the turn runs again. */
  id: string;
  /** Null for the run. */
  parent: string | null;
  kind: SpanKind;
  /** By OpenTelemetry's conventions: `chat gpt-4o`. */
  name: string;
  start: number;
  /** Null while it lasts. */
  end: number | null;
  /** Of the team's life; null outside of turns. */
  turn: number | null;
  /** Below the turn. */
  path: string | null;
  /** `cancelled`, or what kind of error ended it. */
  error: string | null;
  /** Attempts at a step. */
  attempts: number | null;
  /** Whether its result was recorded before an interruption and used again. */
  recovered: boolean;
  /** Whether its recorded result was given up, so that the step ran again. */
  discarded: boolean;
  agent: string | null;
  tool: string | null;
  provider: string | null;
  model: string | null;
  tokens: TokenUsage | null;
  /** What the client left out of the request to the model. */
  note?: string;
  /** What the model was sent and answered, where the deployment wants it. */
  exchange?: Exchange;
}

/** An attempt to deliver an event of a run to a webhook. Times are epoch milliseconds. */
export interface DeliverySpan {
  id: string;
  /** The run's. */
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

/** What a model was sent, and the recorded result of the step. */
export interface Exchange {
  input: readonly LLMMessage[];
  output?: unknown;
}

/** What most spans do not have. */
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
