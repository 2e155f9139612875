import { AnalyticsReporter, type AnalyticsBinding } from "./analytics.ts";
import { OtlpExporter, type ExporterOptions } from "./otlp/exporter.ts";
import { type OtlpSettings, otlpSettings } from "./otlp/settings.ts";
import type { Measurement, Report, Reporter } from "./report.ts";

/** What a deployment records of its runs. */
export interface Telemetry {
  reporter: Reporter;
  /** Undefined without a collector. */
  otlp: OtlpSettings | undefined;
}

/**
 * The telemetry of one object; undefined for a deployment that records none.
 *
 * @param settings of the deployment, with the binding METRICS
 * @throws ValueError naming the setting that cannot be used
 */
export function telemetryOf(
  settings: Readonly<Record<string, unknown>>,
  options: Omit<ExporterOptions, "settings">,
): Telemetry | undefined {
  const otlp = otlpSettings(settings);
  const dataset = settings["METRICS"];
  const reporters: Reporter[] = [];
  if (otlp !== undefined) reporters.push(new OtlpExporter({ ...options, settings: otlp }));
  if (isDataset(dataset)) reporters.push(new AnalyticsReporter(dataset));
  return reporters.length === 0 ? undefined : { reporter: new Reporters(reporters), otlp };
}

function isDataset(binding: unknown): binding is AnalyticsBinding {
  return typeof binding === "object" && binding !== null && "writeDataPoint" in binding;
}

/** Reporters whose failures are theirs alone: the run goes on. */
class Reporters implements Reporter {
  readonly #reporters: readonly Reporter[];

  constructor(reporters: readonly Reporter[]) {
    this.#reporters = reporters;
  }

  report(report: Report): void {
    this.#each((reporter) => reporter.report(report));
  }

  measure(measurements: readonly Measurement[]): void {
    this.#each((reporter) => reporter.measure(measurements));
  }

  flush(): void {
    this.#each((reporter) => reporter.flush());
  }

  #each(tell: (reporter: Reporter) => void): void {
    for (const reporter of this.#reporters) {
      try {
        tell(reporter);
      } catch {
        // An observer must not change what it observes.
      }
    }
  }
}
