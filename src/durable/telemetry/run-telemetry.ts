import type { TraceContext } from "../../core/run/turn-context.ts";
import { measurementsOf } from "../../telemetry/measurements.ts";
import type { ReportedRun } from "../../telemetry/report.ts";
import type { Telemetry } from "../../telemetry/reporters.ts";
import { isSampled } from "../../telemetry/sampling.ts";
import type { Exchange, Span } from "../../telemetry/span.ts";
import { queueSpans, recoverySpans, runSpan, turnSpans } from "../../telemetry/run-spans.ts";
import { spanIds } from "../../telemetry/span-ids.ts";
import { formatTraceparent, parseTraceparent, traceIdOf } from "../../telemetry/trace-context.ts";
import type { ActiveRun } from "../run/active-run.ts";
import type { Commit } from "../storage/commits.ts";
import type { RunRecord } from "../storage/runs/run-store.ts";
import { committedTurn, givenUpTurn, tracedRun } from "./traced-run.ts";

/** Reports what runs do to the deployment's telemetry, and connects their requests with their traces. */
export class RunTelemetry {
  readonly #telemetry: Telemetry | undefined;
  readonly #names: { team: () => string; tenant: string | null };

  constructor(
    telemetry: Telemetry | undefined,
    names: { team: () => string; tenant: string | null },
  ) {
    this.#telemetry = telemetry;
    this.#names = names;
  }

  /** Whether spans have what models were sent and answered. */
  get wantsContents(): boolean {
    return this.#telemetry?.otlp?.contents ?? false;
  }

  /** A turn was committed. To be called before the run goes on to the next one. */
  committed(active: ActiveRun, commit: Commit): void {
    if (this.#telemetry === undefined) return;
    // A run that ends without a turn commits the turn before again.
    const { record, turnStarted, turnOfRun, exchanges } = active;
    const before = { at: turnStarted.at, next: turnOfRun };
    const turn = committedTurn(record, commit, before);
    this.#report(record, withExchanges(turnSpans(record.id, turn), exchanges));
  }

  /** The run is over. @param exchanges of the turn that was given up */
  ended(record: RunRecord, exchanges: ReadonlyMap<string, Exchange> = new Map()): void {
    if (this.#telemetry === undefined) return;
    const run = tracedRun(record);
    const turn = givenUpTurn(record);
    this.#report(record, [
      ...(turn ? withExchanges(turnSpans(record.id, turn), exchanges) : []),
      ...recoverySpans(run),
      ...queueSpans(run),
      runSpan(run),
    ]);
    this.#telemetry.reporter.flush();
  }

  recovered(): void {
    this.#telemetry?.reporter.measure([{ name: "troupe.recoveries", value: 1, attributes: {} }]);
  }

  /** @param length of the queue with it */
  queued(length: number): void {
    this.#telemetry?.reporter.measure([
      { name: "troupe.queue.length", value: length, attributes: {} },
    ]);
  }

  /** Nothing runs from here on: the object may leave memory. */
  rests(): void {
    this.#telemetry?.reporter.flush();
  }

  /**
   * The context of the requests of a step: its span if spans are sent, otherwise the caller's as it came. Undefined where
   * there is no trace.
   */
  contextOf({ record, turnOfRun }: ActiveRun, key: string): TraceContext | undefined {
    const given = record.trace?.context;
    if (this.#telemetry?.otlp === undefined) return given;
    const { trace, sampled, tracestate } = this.#runOf(record);
    const span = spanIds.inTurn(record.id, turnOfRun, key);
    return {
      traceparent: formatTraceparent({ trace, span, sampled }),
      ...(tracestate !== undefined && { tracestate }),
    };
  }

  #report(record: RunRecord, spans: readonly Span[]): void {
    this.#telemetry?.reporter.report({
      run: this.#runOf(record),
      spans,
      measurements: measurementsOf(spans),
    });
  }

  #runOf({ id, trace: { context } = { after: 0 } }: RunRecord): ReportedRun {
    const parent = parseTraceparent(context?.traceparent);
    const trace = traceIdOf(id, context);
    return {
      trace,
      parent: parent?.span ?? null,
      tracestate: context?.tracestate,
      sampled: parent?.sampled ?? isSampled(trace, this.#telemetry?.otlp?.ratio ?? 0),
      id,
      team: this.#names.team(),
      tenant: this.#names.tenant,
    };
  }
}

function withExchanges(spans: Span[], exchanges: ReadonlyMap<string, Exchange>): Span[] {
  if (exchanges.size === 0) return spans;
  return spans.map((span) => {
    const exchange = span.kind === "chat" ? exchanges.get(span.path ?? "") : undefined;
    return exchange === undefined ? span : { ...span, exchange };
  });
}
