import type { AdmissionRequest } from "../../contract/gateways/tenant-gateway.ts";
import type { Refused } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { Directory } from "../directory/directory.ts";
import type { CostClaims } from "./cost-claims.ts";
import type { StoredBytes } from "./stored-bytes.ts";

/** An admitted run must be listed within this time; otherwise it did not start. */
const LISTED_WITHIN_MS = 30_000;
/** Teams report their open streams once a minute; the streams of a team that stops reporting are gone. */
const STREAMS_COUNT_MS = 120_000;

/**
 * Admits runs and streams within the tenant's limits. Keeps its counts in memory. After a restart of the object the
 * counts start at zero, except the number of active runs, which the directory knows.
 */
export class Admission {
  readonly #directory: Directory;
  readonly #costs: CostClaims;
  readonly #stored: StoredBytes;
  /** Teams whose run was admitted but is not listed yet, and until when the admission counts. */
  readonly #starting = new Map<string, number>();
  /** Runs of the last minute, by the second in which they started. */
  readonly #starts = new Map<number, number>();
  readonly #streams = new Map<string, { count: number; until: number }>();

  constructor(directory: Directory, costs: CostClaims, stored: StoredBytes) {
    this.#directory = directory;
    this.#costs = costs;
    this.#stored = stored;
  }

  /** Returns the refusal, or counts the admission. */
  admit(
    { team, run, streams }: AdmissionRequest,
    limits: TenantLimits,
    now: number,
  ): Refused | undefined {
    const refused =
      (run && this.#refuseRun(run, limits, now)) ??
      (streams === undefined ? undefined : this.#refuseStreams(team, streams, limits, now));
    if (refused) return refused;
    if (run) {
      const second = Math.floor(now / 1000);
      this.#starts.set(second, (this.#starts.get(second) ?? 0) + 1);
      if (run === "alone") this.#starting.set(team, now + LISTED_WITHIN_MS);
    }
    if (streams !== undefined) this.countStreams(team, streams, now);
    return undefined;
  }

  /** Stores how many streams the team has open. */
  countStreams(team: string, count: number, now: number): void {
    if (count === 0) this.#streams.delete(team);
    else this.#streams.set(team, { count, until: now + STREAMS_COUNT_MS });
  }

  /** The team has reported its run: the directory counts the run while it is active. */
  listed(team: string): void {
    this.#starting.delete(team);
  }

  #refuseRun(
    run: NonNullable<AdmissionRequest["run"]>,
    limits: TenantLimits,
    now: number,
  ): Refused | undefined {
    const minuteAgo = Math.floor(now / 1000) - 60;
    let started = 0;
    for (const [second, count] of this.#starts) {
      if (second <= minuteAgo) this.#starts.delete(second);
      else started += count;
    }
    if (started >= limits.runs_per_minute) {
      const [first = minuteAgo + 60] = this.#starts.keys();
      return limitReached("runs", {
        limit: "runs_per_minute",
        value: limits.runs_per_minute,
        window: 60,
        seconds: first - minuteAgo,
      });
    }
    if (run === "alone" && this.#active(now) >= limits.active_runs) {
      return limitReached("active_runs", {
        limit: "active_runs",
        value: limits.active_runs,
        seconds: 5,
      });
    }
    return this.#stored.refuse(limits) ?? this.#costs.refuse(limits, now);
  }

  #active(now: number): number {
    for (const [team, until] of this.#starting) if (until <= now) this.#starting.delete(team);
    return this.#directory.open.active + this.#starting.size;
  }

  #refuseStreams(
    team: string,
    streams: number,
    { streams_per_team, streams_per_tenant }: TenantLimits,
    now: number,
  ): Refused | undefined {
    if (streams <= (this.#streams.get(team)?.count ?? 0)) return undefined;
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
