import { type AnalyticsBinding, AnalyticsReporter } from "./analytics.ts";
import { deliveryMeasurement, measurementsOf } from "./measurements.ts";
import { type ExporterOptions, OtlpExporter } from "./otlp/exporter.ts";
import type { OtlpSettings } from "./otlp/settings.ts";
import type { Measurement, Reporter } from "./spans/report.ts";
import type { ReportedRun } from "./spans/reported-run.ts";
import {
  queueSpans,
  recoverySpans,
  runSpan,
  type TracedRun,
  type TracedTurn,
  turnSpans,
} from "./spans/run-spans.ts";
import type { DeliverySpan, Exchange, ReportedSpan, Span } from "./spans/span.ts";

export interface RunReporterOptions extends Omit<ExporterOptions, "settings"> {
  /** Undefined without a collector. */
  otlp: OtlpSettings | undefined;
  /** Undefined without the binding METRICS. */
  dataset: AnalyticsBinding | undefined;
}

/** Exchanges of a turn by the paths of their steps. */
export type Exchanges = ReadonlyMap<string, Exchange>;

/** Makes spans and metrics of runs and passes them to all recorders. Never throws. */
export class RunReporter {
  readonly #reporters: readonly Reporter[];

  constructor(reporters: readonly Reporter[]) {
    this.#reporters = reporters;
  }

  static make({ otlp, dataset, ...options }: RunReporterOptions): RunReporter {
    return new RunReporter([
      ...(otlp ? [new OtlpExporter({ ...options, settings: otlp })] : []),
      ...(dataset ? [new AnalyticsReporter(dataset)] : []),
    ]);
  }

  /** A turn was committed. */
  committed(run: ReportedRun, turn: TracedTurn, exchanges: Exchanges): void {
    this.#report(run, withExchanges(turnSpans(run.id, turn), exchanges));
  }

  /** Reports an ended run. @param turn that was given up */
  ended(
    run: ReportedRun,
    traced: TracedRun,
    turn: TracedTurn | undefined,
    exchanges: Exchanges,
  ): void {
    this.#report(run, [
      ...(turn ? withExchanges(turnSpans(run.id, turn), exchanges) : []),
      ...recoverySpans(traced),
      ...queueSpans(traced),
      runSpan(traced),
    ]);
    this.flush();
  }

  /** Reports a finished delivery attempt of an event of the run. */
  attempted(run: ReportedRun, span: DeliverySpan): void {
    this.#report(run, [span]);
  }

  /** A webhook was tested. */
  tested(delivered: boolean): void {
    this.measure(deliveryMeasurement(delivered));
  }

  measure(...measurements: readonly Measurement[]): void {
    this.#each((reporter) => reporter.measure(measurements));
  }

  /** Sends what was reported: the object may leave memory soon. */
  flush(): void {
    this.#each((reporter) => reporter.flush());
  }

  #report(run: ReportedRun, spans: readonly ReportedSpan[]): void {
    const measurements = measurementsOf(spans);
    this.#each((reporter) => reporter.report({ run, spans, measurements }));
  }

  #each(report: (reporter: Reporter) => void): void {
    for (const reporter of this.#reporters) {
      try {
        report(reporter);
      } catch {
        // Telemetry must not change the behaviour that it observes.
      }
    }
  }
}

function withExchanges(spans: Span[], exchanges: Exchanges): Span[] {
  if (exchanges.size === 0) return spans;
  return spans.map((span) => {
    const called = span.kind === "chat" && !span.discarded;
    const exchange = called ? exchanges.get(span.path ?? "") : undefined;
    return exchange === undefined ? span : { ...span, exchange };
  });
}
