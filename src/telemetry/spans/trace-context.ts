import type { TraceContext } from "../../core/steps/step-attempt.ts";

/** The position of a run in its caller's trace. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  trace: string;
  /** The caller's span: 16 hexadecimal digits. */
  span: string;
  /** True if the caller records the trace. */
  sampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
/** Longer ones may be dropped (W3C Trace Context, 3.3.1.5). */
const LONGEST_TRACESTATE = 512;

/** Reads a `traceparent` header as W3C Trace Context describes it; undefined for one that has to be ignored. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, trace = "", span = "", flags = "", rest] = TRACEPARENT.exec(header ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) {
    return undefined;
  }
  if (ZEROS.test(trace) || ZEROS.test(span)) return undefined;
  return { trace, span, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace context of a request's headers; undefined without a valid one. */
export function readTraceContext(
  traceparent: string | null | undefined,
  tracestate: string | null | undefined,
): TraceContext | undefined {
  const parent = parseTraceparent(traceparent?.trim());
  if (parent === undefined) return undefined;
  const state = tracestate?.trim() ?? "";
  return {
    traceparent: formatTraceparent(parent),
    ...(state !== "" && state.length <= LONGEST_TRACESTATE && { tracestate: state }),
  };
}

/** The trace to which a run belongs: its caller's, or otherwise its own id without hyphens, which also has 16 bytes. */
export function traceIdOf(run: string, context: TraceContext | undefined): string {
  return parseTraceparent(context?.traceparent)?.trace ?? run.replaceAll("-", "");
}

export function formatTraceparent({ trace, span, sampled }: TraceParent): string {
  return `00-${trace}-${span}-${sampled ? "01" : "00"}`;
}
