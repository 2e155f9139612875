import type { ReportedRun } from "./reported-run.ts";
import type { ReportedSpan } from "./span.ts";

/** One value of a metric. */
export interface Measurement {
  name: MetricName;
  /** Seconds, tokens, or a count. */
  value: number;
  attributes: Readonly<Record<string, string>>;
}

/** Counters count, histograms have the distribution of values. `unit` as OpenTelemetry writes it. */
export const METRICS = {
  "gen_ai.client.token.usage": { kind: "histogram", unit: "{token}" },
  "gen_ai.client.operation.duration": { kind: "histogram", unit: "s" },
  "troupe.tool.duration": { kind: "histogram", unit: "s" },
  "troupe.runs": { kind: "counter", unit: "{run}" },
  "troupe.run.duration": { kind: "histogram", unit: "s" },
  "troupe.turns": { kind: "counter", unit: "{turn}" },
  "troupe.turn.duration": { kind: "histogram", unit: "s" },
  "troupe.recoveries": { kind: "counter", unit: "{recovery}" },
  "troupe.queue.length": { kind: "histogram", unit: "{run}" },
  "troupe.queue.wait": { kind: "histogram", unit: "s" },
  "troupe.webhook.deliveries": { kind: "counter", unit: "{delivery}" },
  "troupe.telemetry.dropped_spans": { kind: "counter", unit: "{span}" },
} as const;

export type MetricName = keyof typeof METRICS;

/** The spans and measurements of one report. */
export interface Report {
  run: ReportedRun;
  spans: readonly ReportedSpan[];
  measurements: readonly Measurement[];
}

/** Takes reports. Never throws, never delays its caller. */
export interface Reporter {
  report(report: Report): void;
  measure(measurements: readonly Measurement[]): void;
  /** Sends what was reported: the object may leave memory soon. */
  flush(): void;
}
