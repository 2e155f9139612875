import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isSampled } from "#telemetry/spans/reported-run.ts";
import { readTraceContext } from "#telemetry/spans/trace-context.ts";
import type { Report } from "#telemetry/spans/report.ts";
import { AnalyticsReporter } from "#telemetry/analytics.ts";
import { OtlpExporter } from "#telemetry/otlp/exporter.ts";
import { otlpSettings } from "#telemetry/otlp/settings.ts";
import { RunReporter } from "#telemetry/run-reporter.ts";
import { telemetryOf } from "#telemetry/telemetry.ts";
import { NO_DETAILS, type Span } from "#telemetry/spans/span.ts";

const options = {
  version: "1.0.0",
  fetch: () => Promise.resolve(new Response()),
  dropped: () => undefined,
};

function report(spans: number): Report {
  const span: Span = {
    ...NO_DETAILS,
    id: "1633264a65fdc814",
    parent: null,
    kind: "chat",
    name: "chat",
    start: 1_000,
    end: 2_000,
  };
  return {
    run: {
      trace: "0af7651916cd43dd8448eb211c80319c",
      parent: null,
      tracestate: undefined,
      sampled: true,
      id: "run",
      team: "team",
      tenant: null,
      user: null,
      subject: null,
    },
    spans: Array.from({ length: spans }, () => span),
    measurements: [],
  };
}

test("measurements are data points of Workers Analytics Engine", () => {
  const points: unknown[] = [];
  const METRICS = { writeDataPoint: (point: unknown) => points.push(point) };
  new AnalyticsReporter(METRICS).report({
    ...report(1),
    measurements: [
      {
        name: "gen_ai.client.token.usage",
        value: 7,
        attributes: { "gen_ai.request.model": "gpt-4o", "gen_ai.token.type": "input" },
      },
    ],
  });
  expect(points).toEqual([
    {
      indexes: ["gen_ai.client.token.usage"],
      blobs: ["gen_ai.client.token.usage", "gpt-4o", "", "input", "", "", "", ""],
      doubles: [7],
    },
  ]);
});

test("a binding that throws affects no run", () => {
  const METRICS = {
    writeDataPoint() {
      throw new Error("too many data points");
    },
  };
  const measurement = { name: "troupe.recoveries", value: 1, attributes: {} } as const;
  const reporter = new RunReporter([new AnalyticsReporter(METRICS)]);
  expect(() => reporter.measure(measurement)).not.toThrow();
});

test("a reporter exists with a binding or a collector, and else not", () => {
  expect(telemetryOf({ METRICS: { writeDataPoint: () => undefined } }, options)).toBeDefined();
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector.example/";
  expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT }, options)?.otlp).toMatchObject({
    traces: "http://collector.example/v1/traces",
  });
  expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }, options)).toBeUndefined();
});

describe("a collector that does not answer", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("delays two exports with a limited number of spans, and the others are dropped at once and counted", async () => {
    let requests = 0;
    const dropped: number[] = [];
    const settings = otlpSettings({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
    })!;
    const reporter = new OtlpExporter({
      settings,
      version: "1.0.0",
      dropped: (spans) => dropped.push(spans),
      fetch: (_url, init) => {
        requests++;
        return new Promise((_, reject) => {
          if (init?.signal?.aborted) reject(new Error("aborted"));
          init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
        });
      },
    });
    for (let n = 0; n < 10; n++) reporter.report(report(500));
    reporter.flush();
    await vi.dynamicImportSettled();
    expect(requests).toBe(2);
    // Two reports each reach the number that is sent at once.
    expect(dropped.reduce((sum, spans) => sum + spans, 0)).toBe(5_000 - 2 * 1_000 - 2_048);
    await vi.advanceTimersByTimeAsync(500);
    expect(requests).toBe(2);
    expect(dropped.reduce((sum, spans) => sum + spans, 0)).toBe(5_000);
    // Nothing is left that would keep the object in memory.
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("traceparent", () => {
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const span = "b7ad6b7169203331";

  test.each([
    undefined,
    "",
    "nonsense",
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `00-${"0".repeat(32)}-${span}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
  ])("%s is ignored", (header) => {
    expect(readTraceContext(header, "a=1")).toBeUndefined();
  });

  test("that has a later version counts, as far as it is known", () => {
    expect(readTraceContext(`cc-${trace}-${span}-03-more`, undefined)).toEqual({
      traceparent: `00-${trace}-${span}-01`,
    });
  });

  test("comes with its tracestate, unless that is too long", () => {
    const traceparent = `00-${trace}-${span}-00`;
    expect(readTraceContext(traceparent, "a=1")).toEqual({ traceparent, tracestate: "a=1" });
    expect(readTraceContext(traceparent, "a".repeat(513))).toEqual({ traceparent });
  });
});

test("a part of the traces is sent, and all services choose the same ones", () => {
  const ids = Array.from({ length: 2_000 }, () => crypto.randomUUID().replaceAll("-", ""));
  const sampled = ids.filter((id) => isSampled(id, 0.25));
  expect(sampled.length).toBeGreaterThan(350);
  expect(sampled.length).toBeLessThan(650);
  expect(sampled.every((id) => isSampled(id, 0.5))).toBe(true);
  expect(ids.every((id) => isSampled(id, 1) && !isSampled(id, 0))).toBe(true);
});
