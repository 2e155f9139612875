import type { Measurement, Report, Reporter } from "./spans/report.ts";

/** The binding METRICS: a data set of Workers Analytics Engine. */
export interface AnalyticsBinding {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/** The attributes of metrics, in the order of the columns blob2, blob3 and so on. */
const BLOBS = [
  "gen_ai.request.model",
  "gen_ai.provider.name",
  "gen_ai.token.type",
  "gen_ai.tool.name",
  "troupe.run.status",
  "error.type",
  "troupe.webhook.outcome",
] as const;

/** Writes each measurement as a data point: index1 and blob1 are the metric's name, double1 is the value. */
export class AnalyticsReporter implements Reporter {
  readonly #dataset: AnalyticsBinding;

  constructor(dataset: AnalyticsBinding) {
    this.#dataset = dataset;
  }

  report({ measurements }: Report): void {
    this.measure(measurements);
  }

  measure(measurements: readonly Measurement[]): void {
    for (const { name, value, attributes } of measurements) {
      const blobs = BLOBS.map((attribute) => attributes[attribute] ?? "");
      this.#dataset.writeDataPoint({ indexes: [name], blobs: [name, ...blobs], doubles: [value] });
    }
  }

  flush(): void {}
}
