import type { TraceContext } from "../../core/steps/step-attempt.ts";
import {
  contextOfSpan,
  type ReportedRun,
  reportedRun,
} from "../../telemetry/spans/reported-run.ts";
import type { RunReporter } from "../../telemetry/run-reporter.ts";
import { spanIds } from "../../telemetry/spans/span-ids.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { DeliveryRecord } from "./delivery-store.ts";

/** A finished delivery attempt whose outcome is stored. */
interface Attempt {
  webhook: string;
  url: string;
  /** When the attempt began, epoch milliseconds. */
  at: number;
  /** Null when there was no answer. */
  status: number | null;
  delivered: boolean;
}

/** Reports deliveries of webhooks to the deployment's telemetry, and connects receivers with the traces of the runs. */
export class DeliveryTelemetry {
  readonly #make: () => Telemetry | undefined;
  readonly #tenant: string | null;
  #made: { telemetry: Telemetry | undefined } | undefined;

  /** @param make called with the first delivery */
  constructor(make: () => Telemetry | undefined, tenant: string | null) {
    this.#make = make;
    this.#tenant = tenant;
  }

  /**
   * The trace context of the next attempt: its own span if spans are sent, otherwise the caller's context unchanged.
   * Undefined without a trace.
   */
  contextOf(record: DeliveryRecord): TraceContext | undefined {
    if (this.#telemetry?.otlp === undefined) return record.trace;
    return contextOfSpan(this.#runOf(record), spanId(record));
  }

  /** @param record the state of the delivery before the attempt */
  attempted(record: DeliveryRecord, { webhook, url, at, status, delivered }: Attempt): void {
    const end = Date.now();
    this.#report((reporter) => {
      const { hostname, port, protocol } = new URL(url);
      reporter.attempted(this.#runOf(record), {
        id: spanId(record),
        parent: spanIds.run(record.run_id),
        kind: "delivery",
        name: "POST",
        start: at,
        end,
        error: delivered ? null : String(status ?? "no_answer"),
        webhook,
        event: record.type,
        delivery: record.id,
        attempt: record.attempts + 1,
        host: hostname,
        port: Number(port) || (protocol === "https:" ? 443 : 80),
        status,
      });
    });
  }

  /** Records a test delivery, which belongs to no run. */
  tested(delivered: boolean): void {
    this.#report((reporter) => reporter.tested(delivered));
  }

  get #telemetry(): Telemetry | undefined {
    this.#made ??= { telemetry: this.#make() };
    return this.#made.telemetry;
  }

  #report(what: (reporter: RunReporter) => void): void {
    void this.#telemetry
      ?.reporter()
      .then(what)
      .catch(() => undefined);
  }

  #runOf({ run_id: id, team_id: team, trace }: DeliveryRecord): ReportedRun {
    const ratio = this.#telemetry?.otlp?.ratio ?? 0;
    // The event has them; its delivery is the deployment's.
    const asker = { user: null, subject: null };
    return reportedRun({ id, team, tenant: this.#tenant, ...asker }, trace, ratio);
  }
}

/** The span id of the next attempt. */
function spanId({ id, attempts }: DeliveryRecord): string {
  return spanIds.delivery(id, attempts + 1);
}
