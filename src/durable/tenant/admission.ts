import type { AdmissionRequest } from "../../contract/tenant-gateway.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import { limitReached, type TenantLimits } from "../../contract/tenant.ts";
import type { Directory } from "./directory.ts";
import type { Spending } from "./spending.ts";

/** A run that was admitted is listed by then, or it did not start. */
const LISTED_WITHIN_MS = 30_000;
/** Teams with open streams report them at least this often. */
export const STREAMS_REPORTED_MS = 60_000;
const MINUTE_MS = 60_000;

/**
 * Admits runs and streams within the tenant's limits. Keeps its counts in memory: after a restart of the object they begin
 * anew, except that of the active runs, which the directory knows.
 */
export class Admission {
  readonly #directory: Directory;
  readonly #spending: Spending;
  /** Teams whose run was admitted and is not listed yet, and until when that counts. */
  readonly #starting = new Map<string, number>();
  /** Times of the runs of the last minute. */
  #starts: number[] = [];
  readonly #streams = new Map<string, { count: number; until: number }>();

  constructor(directory: Directory, spending: Spending) {
    this.#directory = directory;
    this.#spending = spending;
  }

  admit(
    { team, run, streams }: AdmissionRequest,
    limits: TenantLimits,
    now: number,
  ): Result<TenantLimits> {
    const refused =
      (run && this.#refuseRun(run, limits, now)) ??
      (streams === undefined ? undefined : this.#refuseStreams(team, streams, limits, now));
    if (refused) return refused;
    if (run) {
      this.#starts.push(now);
      if (run === "alone") this.#starting.set(team, now + LISTED_WITHIN_MS);
    }
    if (streams !== undefined) this.hold(team, streams, now);
    return ok(limits);
  }

  /** The team holds so many streams open. */
  hold(team: string, streams: number, now: number): void {
    if (streams === 0) this.#streams.delete(team);
    else this.#streams.set(team, { count: streams, until: now + 2 * STREAMS_REPORTED_MS });
  }

  #refuseRun(
    run: NonNullable<AdmissionRequest["run"]>,
    limits: TenantLimits,
    now: number,
  ): Refused | undefined {
    this.#starts = this.#starts.filter((at) => at > now - MINUTE_MS);
    const [first] = this.#starts;
    if (this.#starts.length >= limits.runs_per_minute) {
      const wait = first === undefined ? MINUTE_MS : first + MINUTE_MS - now;
      return limitReached("runs", {
        limit: "runs_per_minute",
        value: limits.runs_per_minute,
        window: 60,
        seconds: wait / 1000,
      });
    }
    if (run === "alone" && this.#active(now) >= limits.active_runs) {
      return limitReached("active_runs", {
        limit: "active_runs",
        value: limits.active_runs,
        seconds: 5,
      });
    }
    return this.#spending.refuse(limits, now);
  }

  #active(now: number): number {
    for (const [team, until] of this.#starting) {
      if (until <= now || this.#directory.open.of(team).length > 0) this.#starting.delete(team);
    }
    return this.#directory.open.active + this.#starting.size;
  }

  #refuseStreams(
    team: string,
    streams: number,
    { streams_per_team, streams_per_tenant }: TenantLimits,
    now: number,
  ): Refused | undefined {
    if (streams > streams_per_team) {
      return limitReached("streams", {
        limit: "streams_per_team",
        value: streams_per_team,
        seconds: 5,
      });
    }
    let others = 0;
    for (const [other, { count, until }] of this.#streams) {
      if (until <= now) this.#streams.delete(other);
      else if (other !== team) others += count;
    }
    if (others + streams > streams_per_tenant) {
      return limitReached("streams", {
        limit: "streams_per_tenant",
        value: streams_per_tenant,
        seconds: 5,
      });
    }
    return undefined;
  }
}
