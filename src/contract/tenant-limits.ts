import * as z from "zod";
import { ValueError } from "../core/errors.ts";
import { lazy } from "../core/lazy.ts";
import type { tenantLimitsSchema } from "./tenant.ts";
import { refuse, type Refused } from "./result.ts";

/** What a tenant may use. */
export const tenantLimits = lazy(() => {
  const count = z.number().int().min(0);
  return z.strictObject({
    requests_per_second: count.describe("To the API, in one place of the network."),
    teams: count,
    active_runs: count.describe("Runs that are running, waiting or paused."),
    runs_per_minute: count,
    tokens_per_day: count.nullable().describe("Of runs that ended that day, UTC; null: no limit."),
    tokens_per_month: count.nullable().describe("Of runs that ended that month, UTC."),
    stored_bytes_per_team: count.describe(
      "A team at its limit starts no run; a fork of it is refused.",
    ),
    streams_per_team: count.describe("Open at the same time."),
    streams_per_tenant: count.describe("Open at the same time, over all teams."),
    message_bytes_per_minute: count.describe("Of tasks and answers, per team."),
  });
});

export type TenantLimits = z.output<typeof tenantLimitsSchema>;

export const DEFAULT_TENANT_LIMITS: TenantLimits = {
  requests_per_second: 100,
  teams: 10_000,
  active_runs: 100,
  runs_per_minute: 600,
  tokens_per_day: null,
  tokens_per_month: null,
  stored_bytes_per_team: 1_000_000_000,
  streams_per_team: 200,
  streams_per_tenant: 2_000,
  message_bytes_per_minute: 10_000_000,
};

/** In local open mode, where there is one user, only limits that are set hold. */
const OPEN_LIMITS: TenantLimits = {
  requests_per_second: 1_000_000_000,
  teams: 1_000_000_000,
  active_runs: 1_000_000_000,
  runs_per_minute: 1_000_000_000,
  tokens_per_day: null,
  tokens_per_month: null,
  stored_bytes_per_team: 10_000_000_000,
  streams_per_team: 1_000_000_000,
  streams_per_tenant: 1_000_000_000,
  message_bytes_per_minute: 1_000_000_000,
};

/**
 * The defaults with what the settings change: `TENANT_REQUESTS_PER_SECOND=500`.
 *
 * @throws ValueError when a setting is no whole number
 */
export function tenantLimitsFrom(settings: { readonly [name: string]: unknown }): TenantLimits {
  const limits = { ...(settings.TROUPE_OPEN === "1" ? OPEN_LIMITS : DEFAULT_TENANT_LIMITS) };
  for (const name of Object.keys(limits) as (keyof TenantLimits)[]) {
    const setting = settings[`TENANT_${name.toUpperCase()}`];
    if (setting === undefined || setting === "") continue;
    const value = Number(setting);
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new ValueError(
        `TENANT_${name.toUpperCase()} is ${JSON.stringify(setting)}: it must be a whole number, 0 or more`,
      );
    }
    limits[name] = value;
  }
  return limits;
}

/** What a request that is over a limit is told. */
export interface ReachedLimit {
  limit: keyof TenantLimits;
  value: number;
  /** Seconds over which the limit counts, if it counts over time. */
  window?: number;
  /** Until it may be worth another try. */
  seconds: number;
}

/** A 429 with the code `too_many_{what}`. */
export function limitReached(what: string, { seconds, ...reached }: ReachedLimit): Refused {
  const retry_after = Math.max(1, Math.ceil(seconds));
  const { limit, value } = reached;
  const detail = `The tenant is at its limit ${limit} of ${value}. Try again in ${retry_after} s.`;
  const { problem } = refuse(429, `too_many_${what}`, detail, reached);
  return { ok: false, problem: { ...problem, retry_after } };
}
