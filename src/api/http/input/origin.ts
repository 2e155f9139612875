import { beginningOf } from "../../../core/cut.ts";
import { HOPS_HEADER, HOPS_MEMBER, MAX_HOPS } from "../../../core/steps/hops.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import { readTraceContext } from "../../../telemetry/spans/trace-context.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";

/** The trace of a request's caller, which a run continues, and its hop count, as fields of the run's input. @throws ProblemError 422 */
export function originOf({ headers }: Request): { trace?: TraceContext; hops?: number } {
  const hops = hopsOf(headers);
  const parent = headers.get("traceparent");
  if (parent === null) return hops;
  const trace = readTraceContext(parent, headers.get("tracestate"));
  return trace === undefined ? hops : { ...hops, trace };
}

/**
 * The hop count of a run that a request starts, as a field of the run's input: how many runs there are before it in the chain of
 * requests. Teams that call each other in a circle end there, and not at the limits of their tenant.
 *
 * @param metadata the message's, in protocols with metadata. The larger count is used, because an HTTP tool may send a message, too.
 * @throws ProblemError 422
 */
export function hopsOf(
  headers: Headers,
  metadata?: { path: string; value: { readonly [key: string]: unknown } | undefined },
): { hops?: number } {
  const hops = Math.max(
    readHops(headers.get(HOPS_HEADER) ?? undefined, "Troupe-Hops"),
    readHops(metadata?.value?.[HOPS_MEMBER], `${metadata?.path}.${HOPS_MEMBER}`),
  );
  if (hops <= MAX_HOPS) return hops === 0 ? {} : { hops };
  throw new ProblemError({
    status: 422,
    code: "too_many_hops",
    detail: `The run would be number ${hops + 1} in a chain of runs that start each other; at most ${MAX_HOPS + 1} are allowed. Look for teams that call each other, or themselves, in a circle.`,
    extra: { hops, limit: MAX_HOPS },
  });
}

function readHops(input: unknown, path: string): number {
  if (input === undefined) return 0;
  const hops = typeof input === "string" && /^\d+$/.test(input) ? Number(input) : input;
  if (typeof hops === "number" && hops >= 0 && (Number.isInteger(hops) || hops === Infinity))
    // A count of hundreds of digits is infinite, for which JSON has no number.
    return Math.min(hops, Number.MAX_SAFE_INTEGER);
  const message = `must be a whole number of 0 or more, not ${beginningOf(JSON.stringify(input), 100)}`;
  throw invalid("invalid_hops", `${path} ${message}.`, [{ path, message }]);
}
