import { inputMessages, outputMessages } from "./messages.ts";
import type { DeliverySpan, ReportedSpan, Span } from "../spans/span.ts";

/** A value in OTLP's JSON; whole numbers are texts. */
export type AnyValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean };

export interface KeyValue {
  key: string;
  value: AnyValue;
}

export type Attributes = Readonly<Record<string, string | number | boolean | null>>;

export function keyValues(attributes: Attributes): KeyValue[] {
  const values: KeyValue[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) values.push({ key, value: anyValue(value) });
  }
  return values;
}

function anyValue(value: string | number | boolean): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** GenAI operations by the kinds of spans; the others are Troupe's own. */
const OPERATIONS: Partial<Record<Span["kind"], string>> = {
  invoke_agent: "invoke_agent",
  chat: "chat",
  execute_tool: "execute_tool",
};

/** The attributes of a span, by the semantic conventions for GenAI and HTTP where they have a name for it. */
export function spanAttributes(span: ReportedSpan): Attributes {
  return span.kind === "delivery" ? deliveryAttributes(span) : runAttributes(span);
}

/** Without the URL: the path of a webhook is often its secret. */
function deliveryAttributes(span: DeliverySpan): Attributes {
  return {
    "http.request.method": span.name,
    "http.request.resend_count": span.attempt > 1 ? span.attempt - 1 : null,
    "http.response.status_code": span.status,
    "server.address": span.host,
    "server.port": span.port,
    "error.type": span.error,
    "troupe.span.kind": span.kind,
    "troupe.webhook.id": span.webhook,
    "troupe.webhook.event": span.event,
    "troupe.webhook.delivery": span.delivery,
  };
}

function runAttributes(span: Span): Attributes {
  const operation = OPERATIONS[span.kind] ?? null;
  const isTool = span.kind === "execute_tool";
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": span.provider,
    "gen_ai.request.model": span.model,
    "gen_ai.usage.input_tokens": span.tokens?.prompt_tokens ?? null,
    "gen_ai.usage.output_tokens": span.tokens?.completion_tokens ?? null,
    "gen_ai.usage.cache_read.input_tokens": span.tokens?.cached_tokens ?? null,
    "gen_ai.usage.cache_creation.input_tokens": span.tokens?.cache_write_tokens ?? null,
    "gen_ai.usage.reasoning.output_tokens": span.tokens?.reasoning_tokens ?? null,
    "troupe.usage.estimated_tokens": span.tokens?.estimated_tokens ?? null,
    "gen_ai.agent.name": span.agent,
    "gen_ai.tool.name": span.tool,
    "gen_ai.tool.type": isTool ? "function" : null,
    "gen_ai.input.messages": span.exchange ? inputMessages(span.exchange.input) : null,
    "gen_ai.output.messages": outputMessages(span.exchange?.output),
    "error.type": span.error === "cancelled" ? null : span.error,
    "troupe.span.kind": span.kind,
    "troupe.cancelled": span.error === "cancelled" ? true : null,
    "troupe.turn": span.turn,
    "troupe.path": span.path,
    "troupe.attempts": span.attempts !== null && span.attempts > 1 ? span.attempts : null,
    "troupe.recovered": span.recovered ? true : null,
    "troupe.discarded": span.discarded ? true : null,
    "troupe.note": span.note ?? null,
  };
}
