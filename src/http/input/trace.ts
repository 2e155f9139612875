import type { TraceContext } from "../../core/run/turn-context.ts";
import { readTraceContext } from "../../telemetry/trace-context.ts";

/** The trace of a request's caller, which a run continues, as a field of the run's input. */
export function traceOf({ headers }: Request): { trace?: TraceContext } {
  const trace = readTraceContext(headers.get("traceparent"), headers.get("tracestate"));
  return trace === undefined ? {} : { trace };
}
