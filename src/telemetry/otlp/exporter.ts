import { errorMessage } from "../../core/errors.ts";
import type { Measurement, Report, Reporter } from "../spans/report.ts";
import type { OtlpSettings } from "./settings.ts";
import type { SentSpan } from "./traces.ts";

/** The most buffered spans; further ones are dropped. */
const MOST_SPANS = 2_048;
/** A batch of this size is sent at once. */
const BATCH_SPANS = 512;
/** The most buffered measurements; further ones are dropped. */
const MOST_MEASUREMENTS = 8_192;
/** Reports within this time are sent together. */
const GATHER_MS = 1_000;
/** Concurrent requests: one that a slow collector delays, and that of the run's end. */
const MOST_EXPORTS = 2;

export interface ExporterOptions {
  settings: OtlpSettings;
  /** The version of Troupe. */
  version: string;
  fetch: typeof fetch;
  /** Spans were dropped. @param reason without secrets */
  dropped: (spans: number, reason: string) => void;
}

/**
 * Sends spans and metrics of one object to a collector, by OTLP over HTTP as JSON. Nothing waits for it: reports are kept
 * in a bounded buffer, and dropped with a count when the collector does not take them.
 */
export class OtlpExporter implements Reporter {
  readonly #options: ExporterOptions;
  #spans: SentSpan[] = [];
  #measurements: Measurement[] = [];
  #since = Date.now();
  #overflow = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay = 0;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  report({ run, spans, measurements }: Report): void {
    for (const span of run.sampled ? spans : []) {
      if (this.#spans.length < MOST_SPANS) this.#spans.push({ run, span });
      else this.#overflow++;
    }
    this.measure(measurements);
    if (this.#spans.length >= BATCH_SPANS) this.#export();
  }

  measure(measurements: readonly Measurement[]): void {
    const room = MOST_MEASUREMENTS - this.#measurements.length;
    this.#measurements.push(...measurements.slice(0, room));
    this.#timer ??= setTimeout(() => this.#export(), GATHER_MS);
  }

  flush(): void {
    this.#export();
  }

  #export(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#overflow > 0) this.#drop(this.#overflow, "more were made than sent");
    this.#overflow = 0;
    // Buffered reports are sent when one of these requests has ended.
    if (this.#underWay === MOST_EXPORTS) return;
    const spans = this.#spans.splice(0);
    const measurements = this.#measurements;
    if (spans.length === 0 && measurements.length === 0) return;
    this.#measurements = [];
    const since = this.#since;
    this.#since = Date.now();
    this.#underWay++;
    void this.#send(spans, measurements, since).finally(() => {
      this.#underWay--;
      if (this.#spans.length > 0) this.#export();
    });
  }

  async #send(
    spans: readonly SentSpan[],
    measurements: readonly Measurement[],
    since: number,
  ): Promise<void> {
    const { settings, version } = this.#options;
    // Not AbortSignal.timeout: its timer would keep the object in memory for the remaining time.
    const late = new AbortController();
    const { signal } = late;
    const timer = setTimeout(() => late.abort(), settings.timeoutMs);
    const { tracesRequest, metricsRequest } = await import("./requests.ts");
    const { resource } = settings;
    const post = async (url: string, body: object): Promise<string | undefined> => {
      try {
        const response = await this.#options.fetch(url, {
          method: "POST",
          headers: { ...settings.headers, "content-type": "application/json" },
          body: JSON.stringify(body),
          // The headers hold secrets.
          redirect: "manual",
          signal,
        });
        await response.body?.cancel();
        return response.ok ? undefined : `the collector answered ${response.status}`;
      } catch (error) {
        if (signal.aborted) return `the collector took longer than ${settings.timeoutMs} ms`;
        return `the collector cannot be reached: ${errorMessage(error)}`;
      }
    };
    if (spans.length > 0) {
      const failure = await post(settings.traces, tracesRequest(spans, resource, version));
      // Buffered reports are not sent now, because that would keep the object in memory for another time limit.
      if (failure !== undefined) this.#drop(spans.length + this.#spans.splice(0).length, failure);
    }
    if (measurements.length > 0) {
      const time = { since, now: Date.now() };
      await post(settings.metrics, metricsRequest(measurements, time, resource, version));
    }
    clearTimeout(timer);
  }

  #drop(spans: number, reason: string): void {
    this.#options.dropped(spans, reason);
    const attributes = {};
    // Sent with the next report, because the collector does not answer now.
    this.#measurements.push({ name: "troupe.telemetry.dropped_spans", value: spans, attributes });
  }
}
