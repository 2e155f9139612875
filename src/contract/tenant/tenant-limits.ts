import { camelCase } from "../../core/options/camel-case.ts";
import { ValueError } from "../../core/errors.ts";
import { refuse, type Refused } from "../result.ts";
import type { TenantLimits } from "./tenant.ts";

export const DEFAULT_TENANT_LIMITS: TenantLimits = {
  requests_per_second: 100,
  teams: 10_000,
  keys: 1_000,
  team_tokens: 100_000,
  active_runs: 100,
  runs_per_minute: 600,
  tokens_per_day: null,
  tokens_per_month: null,
  cost_per_day: null,
  cost_per_month: null,
  collections: 1_000,
  memory_users: 100_000,
  team_tools: 1_000,
  stored_bytes: null,
  stored_bytes_per_team: 1_000_000_000,
  streams_per_team: 200,
  streams_per_tenant: 2_000,
  streams_per_credential: 50,
  message_bytes_per_minute: 10_000_000,
};

/** In local open mode, which has one user, only explicitly set limits apply. */
const OPEN_LIMITS: TenantLimits = {
  requests_per_second: 1_000_000_000,
  teams: 1_000_000_000,
  keys: 1_000_000_000,
  team_tokens: 1_000_000_000,
  active_runs: 1_000_000_000,
  runs_per_minute: 1_000_000_000,
  tokens_per_day: null,
  tokens_per_month: null,
  cost_per_day: null,
  cost_per_month: null,
  collections: 1_000_000_000,
  memory_users: 1_000_000_000,
  team_tools: 1_000_000_000,
  stored_bytes: null,
  stored_bytes_per_team: 10_000_000_000,
  streams_per_team: 1_000_000_000,
  streams_per_tenant: 1_000_000_000,
  streams_per_credential: 1_000_000_000,
  message_bytes_per_minute: 1_000_000_000,
};

/** Limits in the currency of `MODEL_PRICES`. */
export const MONEY_LIMITS = ["cost_per_day", "cost_per_month"] as const;

/** True if model calls have to stay within a budget in money. */
export function hasMoneyBudget(limits: TenantLimits): boolean {
  return MONEY_LIMITS.some((name) => limits[name] !== null);
}

/**
 * The default limits, overridden by settings such as `TENANT_REQUESTS_PER_SECOND=500`.
 *
 * @throws ValueError when a setting is not a whole number, or one of money not a number
 */
export function tenantLimitsFrom(settings: { readonly [name: string]: unknown }): TenantLimits {
  const limits = { ...(settings.TROUPE_OPEN === "1" ? OPEN_LIMITS : DEFAULT_TENANT_LIMITS) };
  for (const name of Object.keys(limits) as (keyof TenantLimits)[]) {
    const setting = settingOf(name);
    const value = settings[setting];
    if (value !== undefined && value !== "") {
      limits[name] = amount(name, setting, Number(value), value);
    }
  }
  return limits;
}

/**
 * The limits of a program as the settings that they stand for: `{ activeRuns: 5 }`.
 *
 * @throws ValueError for an unknown limit or one that is not a whole number, or of money not a number
 */
export function limitSettings(options: object): Record<string, string> {
  const names = Object.keys(DEFAULT_TENANT_LIMITS) as (keyof TenantLimits)[];
  const settings: Record<string, string> = {};
  for (const [option, value] of Object.entries(options)) {
    const name = names.find((one) => camelCase(one) === option);
    if (name === undefined) {
      const known = names.map(camelCase).join(", ");
      throw new ValueError(`limits.${option} is not an option; use ${known}`);
    }
    if (value === undefined) continue;
    // No limit, the default of nullable limits.
    if (value === null && DEFAULT_TENANT_LIMITS[name] === null) continue;
    settings[settingOf(name)] = String(amount(name, `limits.${option}`, value));
  }
  return settings;
}

function settingOf(limit: string): string {
  return `TENANT_${limit.toUpperCase()}`;
}

/** @param given the text of the setting, for the error */
function amount(limit: keyof TenantLimits, name: string, value: unknown, given = value): number {
  const isMoney = MONEY_LIMITS.some((one) => one === limit);
  const isAllowed = isMoney ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (isAllowed && Number(value) >= 0) return Number(value);
  const kind = isMoney ? "number" : "whole number";
  throw new ValueError(`${name} is ${JSON.stringify(given)}: it must be a ${kind}, 0 or more`);
}

/** The text and details of a refusal by a limit. */
export interface ReachedLimit {
  limit: keyof TenantLimits;
  value: number;
  /** Seconds of the limit's window, if it counts over time. */
  window?: number;
  /** Seconds until a retry may succeed. */
  seconds: number;
  /** The advice if waiting alone does not help. */
  remedy?: string;
}

/** A 429 with the code `too_many_{what}`. */
export function limitReached(what: string, { seconds, remedy, ...reached }: ReachedLimit): Refused {
  const retry_after = Math.max(1, Math.ceil(seconds));
  const { limit, value } = reached;
  const advice = remedy ?? `Try again in ${retry_after} s.`;
  const detail = `The tenant has reached its limit of ${value} ${limit.replaceAll("_", " ")} (${limit}). ${advice}`;
  const { problem } = refuse(429, `too_many_${what}`, detail, reached);
  return {
    ok: false,
    problem: { ...problem, retry_after, ...(remedy !== undefined && { repeatable: false }) },
  };
}
