import type { ReportedRun } from "../spans/reported-run.ts";
import type { ReportedSpan } from "../spans/span.ts";
import { type Attributes, type KeyValue, keyValues, spanAttributes } from "./attributes.ts";

export interface SentSpan {
  run: ReportedRun;
  span: ReportedSpan;
}

/** `SpanKind` of the protocol. */
const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;

/** `StatusCode` of the protocol. */
const UNSET = 0;
const ERROR = 2;

interface OtlpSpan {
  traceId: string;
  spanId: string;
  traceState?: string;
  parentSpanId?: string;
  /** The sampled flag. */
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  status: { code: number; message?: string };
}

/** `ExportTraceServiceRequest` as JSON. */
export interface TracesRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { scope: { name: string; version: string }; spans: OtlpSpan[] }[];
  }[];
}

export function tracesRequest(
  spans: readonly SentSpan[],
  resource: Attributes,
  version: string,
): TracesRequest {
  const sent = spans.map(otlpSpan);
  const scopeSpans = [{ scope: { name: "troupe", version }, spans: sent }];
  return { resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans }] };
}

function otlpSpan({ run, span }: SentSpan): OtlpSpan {
  const parent = span.parent ?? run.parent;
  const failed = span.error !== null && span.error !== "cancelled";
  return {
    traceId: run.trace,
    spanId: span.id,
    ...(run.tracestate !== undefined && { traceState: run.tracestate }),
    ...(parent !== null && { parentSpanId: parent }),
    flags: 1,
    name: span.name,
    kind: kindOf(span, run),
    startTimeUnixNano: nanoseconds(span.start),
    endTimeUnixNano: nanoseconds(span.end ?? span.start),
    attributes: keyValues({
      ...spanAttributes(span),
      "gen_ai.conversation.id": run.team,
      "troupe.run.id": run.id,
      "troupe.tenant": run.tenant,
      "user.id": run.user,
      "troupe.subject": run.subject,
    }),
    status: failed ? { code: ERROR, message: span.error ?? "" } : { code: UNSET },
  };
}

function kindOf({ kind }: ReportedSpan, { parent }: ReportedRun): number {
  if (kind === "chat" || kind === "delivery") return CLIENT;
  return kind === "run" && parent !== null ? SERVER : INTERNAL;
}

/** @param ms epoch milliseconds */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}
