import type { AnalyticsBinding } from "./analytics.ts";
import type { ExporterOptions } from "./otlp/exporter.ts";
import { type OtlpSettings, otlpSettings } from "./otlp/settings.ts";
import type { RunReporter } from "./run-reporter.ts";

/** The records that a deployment makes of its runs. */
export interface Telemetry {
  /** Undefined without a collector. */
  otlp: OtlpSettings | undefined;
  /** Imported when there is something to report: most deployments report nothing. */
  reporter(): Promise<RunReporter>;
}

/**
 * The telemetry of one object; undefined for a deployment that records none.
 *
 * @param settings the settings of the deployment, with the binding METRICS
 * @throws ValueError naming the setting that cannot be used
 */
export function telemetryOf(
  settings: Readonly<Record<string, unknown>>,
  options: Omit<ExporterOptions, "settings">,
): Telemetry | undefined {
  const otlp = otlpSettings(settings);
  const { METRICS } = settings;
  const dataset = isDataset(METRICS) ? METRICS : undefined;
  if (otlp === undefined && dataset === undefined) return undefined;
  let reporter: Promise<RunReporter> | undefined;
  const load = async (): Promise<RunReporter> => {
    const { RunReporter: Reporter } = await import("./run-reporter.ts");
    return Reporter.make({ otlp, dataset, ...options });
  };
  return { otlp, reporter: () => (reporter ??= load()) };
}

function isDataset(binding: unknown): binding is AnalyticsBinding {
  return typeof binding === "object" && binding !== null && "writeDataPoint" in binding;
}
