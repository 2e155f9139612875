import type { TraceContext } from "../../core/steps/step-attempt.ts";
import { formatTraceparent, parseTraceparent, traceIdOf } from "./trace-context.ts";

/** The run that spans belong to. */
export interface ReportedRun {
  trace: string;
  /** The caller's span; null without one. */
  parent: string | null;
  tracestate: string | undefined;
  sampled: boolean;
  id: string;
  team: string;
  tenant: string | null;
  /** For whom it is; null for no user. */
  user: string | null;
  /** The name or subject of the credential that started it; null for one without. */
  subject: string | null;
}

/**
 * @param context the trace context of the request that started the run
 * @param ratio the fraction of traces that is sent when no caller decides, 0 to 1
 */
export function reportedRun(
  names: Pick<ReportedRun, "id" | "team" | "tenant" | "user" | "subject">,
  context: TraceContext | undefined,
  ratio: number,
): ReportedRun {
  const parent = parseTraceparent(context?.traceparent);
  const trace = traceIdOf(names.id, context);
  return {
    trace,
    parent: parent?.span ?? null,
    tracestate: context?.tracestate,
    sampled: parent?.sampled ?? isSampled(trace, ratio),
    ...names,
  };
}

/** The context that a request of the run carries. @param span that the request is */
export function contextOfSpan(
  { trace, sampled, tracestate }: ReportedRun,
  span: string,
): TraceContext {
  return {
    traceparent: formatTraceparent({ trace, span, sampled }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

/** The random part of a trace id that decides, 56 bits, as the W3C recommends. */
const BITS = 14;

/** True if the trace is sampled; all services that decide about it find the same. @param ratio 0 to 1 */
export function isSampled(trace: string, ratio: number): boolean {
  // Not a comparison with 1, which the largest ids are rounded to.
  if (ratio >= 1) return true;
  return Number.parseInt(trace.slice(-BITS), 16) / 16 ** BITS < ratio;
}
