import type { TraceContext } from "../core/run/turn-context.ts";
import { isSampled } from "./sampling.ts";
import { formatTraceparent, parseTraceparent, traceIdOf } from "./trace-context.ts";

/** The run that spans belong to. */
export interface ReportedRun {
  trace: string;
  /** The caller's span; null without one. */
  parent: string | null;
  tracestate: string | undefined;
  /** Whether its spans are sent. */
  sampled: boolean;
  id: string;
  team: string;
  tenant: string | null;
}

/**
 * @param context of the request that started the run
 * @param ratio the part of the traces that is sent where no caller decides, 0 to 1
 */
export function reportedRun(
  names: Pick<ReportedRun, "id" | "team" | "tenant">,
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
