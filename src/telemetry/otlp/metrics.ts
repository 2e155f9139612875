import { type Measurement, type MetricName, METRICS } from "../spans/report.ts";
import { type Attributes, type KeyValue, keyValues } from "./attributes.ts";
import { nanoseconds } from "./traces.ts";

/** `AggregationTemporality` of the protocol: each request has the changes since the previous one. */
const DELTA = 1;

/** The most series of one object between two requests; further ones are dropped. */
const MOST_SERIES = 1_000;

/** Upper bounds of buckets, as the semantic conventions for GenAI advise. */
const BOUNDS: Readonly<Record<string, readonly number[]>> = {
  s: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  "{token}": [
    1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
    67_108_864,
  ],
  "{run}": [1, 2, 5, 10, 20, 50, 100],
};

interface Series {
  name: MetricName;
  attributes: Readonly<Record<string, string>>;
  count: number;
  sum: number;
  min: number;
  max: number;
  buckets: number[];
}

interface DataPoint {
  attributes: KeyValue[];
  startTimeUnixNano: string;
  timeUnixNano: string;
}

interface Metric {
  name: string;
  unit: string;
  sum?: {
    aggregationTemporality: number;
    isMonotonic: boolean;
    dataPoints: (DataPoint & { asInt: string })[];
  };
  histogram?: {
    aggregationTemporality: number;
    dataPoints: (DataPoint & {
      count: string;
      sum: number;
      bucketCounts: string[];
      explicitBounds: readonly number[];
      min: number;
      max: number;
    })[];
  };
}

/** `ExportMetricsServiceRequest` as JSON. */
export interface MetricsRequest {
  resourceMetrics: {
    resource: { attributes: KeyValue[] };
    scopeMetrics: { scope: { name: string; version: string }; metrics: Metric[] }[];
  }[];
}

/** @param since when the first of the measurements may have been made, epoch milliseconds */
export function metricsRequest(
  measurements: readonly Measurement[],
  { since, now }: { since: number; now: number },
  resource: Attributes,
  version: string,
): MetricsRequest {
  const metrics = new Map<string, Metric>();
  for (const series of aggregate(measurements)) {
    const { kind, unit } = METRICS[series.name];
    const point = {
      attributes: keyValues(series.attributes),
      startTimeUnixNano: nanoseconds(since),
      timeUnixNano: nanoseconds(now),
    };
    const metric = metrics.get(series.name) ?? { name: series.name, unit };
    metrics.set(series.name, metric);
    if (kind === "counter") {
      metric.sum ??= { aggregationTemporality: DELTA, isMonotonic: true, dataPoints: [] };
      metric.sum.dataPoints.push({ ...point, asInt: String(series.sum) });
    } else {
      metric.histogram ??= { aggregationTemporality: DELTA, dataPoints: [] };
      metric.histogram.dataPoints.push({
        ...point,
        count: String(series.count),
        sum: series.sum,
        bucketCounts: series.buckets.map(String),
        explicitBounds: BOUNDS[unit] ?? [],
        min: series.min,
        max: series.max,
      });
    }
  }
  const scopeMetrics = [{ scope: { name: "troupe", version }, metrics: [...metrics.values()] }];
  return { resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics }] };
}

function aggregate(measurements: readonly Measurement[]): Iterable<Series> {
  const byKey = new Map<string, Series>();
  for (const { name, value, attributes } of measurements) {
    const key = JSON.stringify([name, attributes]);
    const bounds = BOUNDS[METRICS[name].unit] ?? [];
    let series = byKey.get(key);
    if (series === undefined) {
      if (byKey.size === MOST_SERIES) continue;
      const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
      series = { name, attributes, count: 0, sum: 0, min: value, max: value, buckets };
      byKey.set(key, series);
    }
    const bucket = bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? bounds.length : bucket;
    series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
  }
  return byKey.values();
}
