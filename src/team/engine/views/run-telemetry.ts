import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import type { Measurement } from "../../../telemetry/spans/report.ts";
import {
  contextOfSpan,
  type ReportedRun,
  reportedRun,
} from "../../../telemetry/spans/reported-run.ts";
import type { Exchanges, RunReporter } from "../../../telemetry/run-reporter.ts";
import { spanIds } from "../../../telemetry/spans/span-ids.ts";
import type { Telemetry } from "../../../telemetry/telemetry.ts";
import type { RunInView } from "./run-in-view.ts";
import type { Commit } from "../../storage/log/commits.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";
import { committedTurn, givenUpTurn, tracedRun } from "./turn-report.ts";

/**
 * Reports what runs do to the deployment's telemetry, and connects their requests with their traces. What it reports is
 * read at once, because the run continues.
 */
export class RunTelemetry {
  readonly #telemetry: Telemetry;
  readonly #names: { team: string; tenant: string | null };

  constructor(telemetry: Telemetry, names: { team: string; tenant: string | null }) {
    this.#telemetry = telemetry;
    this.#names = names;
  }

  /** True if spans have the messages to models and their answers. */
  get wantsContents(): boolean {
    return this.#telemetry.otlp?.contents ?? false;
  }

  /** A turn was committed. Call it before the run continues with the next one. */
  committed({ record, turnStarted, turnOfRun, exchanges }: RunInView, commit: Commit): void {
    const turn = committedTurn(record, commit, { at: turnStarted.at, next: turnOfRun });
    const run = this.#runOf(record);
    const exchanged = new Map(exchanges);
    this.#report((reporter) => reporter.committed(run, turn, exchanged));
  }

  /** The run is over. @param exchanges what the turn that was given up has sent and got */
  ended(record: RunRecord, exchanges: Exchanges = new Map()): void {
    const run = this.#runOf(record);
    const traced = tracedRun(record);
    const turn = givenUpTurn(record);
    const exchanged = new Map(exchanges);
    this.#report((reporter) => reporter.ended(run, traced, turn, exchanged));
  }

  recovered(): void {
    this.#measure({ name: "troupe.recoveries", value: 1, attributes: {} });
  }

  /** @param length how many runs the queue has with it */
  queued(length: number): void {
    this.#measure({ name: "troupe.queue.length", value: length, attributes: {} });
  }

  /** Nothing runs from here on: the object may leave memory. */
  suspended(): void {
    this.#report((reporter) => reporter.flush());
  }

  /**
   * The context of the requests of a step: its span if spans are sent, otherwise the caller's as it came. Undefined where
   * there is no trace.
   */
  contextOf({ record, turnOfRun }: RunInView, key: string): TraceContext | undefined {
    const given = record.trace?.context;
    if (this.#telemetry.otlp === undefined) return given;
    const span = spanIds.inTurn(record.id, turnOfRun, key);
    return contextOfSpan(this.#runOf(record), span);
  }

  #measure(measurement: Measurement): void {
    this.#report((reporter) => reporter.measure(measurement));
  }

  #report(what: (reporter: RunReporter) => void): void {
    void this.#telemetry
      .reporter()
      .then(what)
      .catch(() => undefined);
  }

  #runOf({ id, trace, user, subject }: RunRecord): ReportedRun {
    const { team, tenant } = this.#names;
    const ratio = this.#telemetry.otlp?.ratio ?? 0;
    const asker = { user: user ?? null, subject: subject ?? null };
    return reportedRun({ id, team, tenant, ...asker }, trace?.context, ratio);
  }
}
