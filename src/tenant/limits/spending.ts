import type { Refused } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";
import type { Directory } from "../directory/directory.ts";
import { dayOf, type UsageStore } from "../directory/usage-store.ts";

/** Tokens used in a period (UTC). */
interface Period {
  /** A day or a month: `2026-11-22` or `2026-11`. */
  name: string;
  tokens: number;
}

/** The tokens of this day and this month: added up from the stored usage on first use, then counted as runs end. */
export class Spending {
  readonly #directory: Directory;
  readonly #usage: UsageStore;
  #day: Period | undefined;
  #month: Period | undefined;

  constructor(directory: Directory, usage: UsageStore) {
    this.#directory = directory;
    this.#usage = usage;
  }

  /** Adds the tokens of a run that has ended. @param ended_at ISO 8601 UTC */
  add(ended_at: string, { prompt_tokens, completion_tokens }: RequestUsage): void {
    for (const period of [this.#day, this.#month]) {
      if (period !== undefined && ended_at.startsWith(period.name)) {
        period.tokens += prompt_tokens + completion_tokens;
      }
    }
  }

  refuse({ tokens_per_day, tokens_per_month }: TenantLimits, now: number): Refused | undefined {
    const date = new Date(now);
    const today = dayOf(date.toISOString());
    if (tokens_per_day !== null) {
      if (this.#day?.name !== today) this.#day = this.#sum(today);
      if (this.#day.tokens >= tokens_per_day) {
        const tomorrow = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1);
        return limitReached("tokens", {
          limit: "tokens_per_day",
          value: tokens_per_day,
          seconds: (tomorrow - now) / 1000,
        });
      }
    }
    if (tokens_per_month !== null) {
      const month = today.slice(0, "2026-11".length);
      if (this.#month?.name !== month) this.#month = this.#sum(month);
      if (this.#month.tokens >= tokens_per_month) {
        const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
        return limitReached("tokens", {
          limit: "tokens_per_month",
          value: tokens_per_month,
          seconds: (next - now) / 1000,
        });
      }
    }
    return undefined;
  }

  #sum(name: string): Period {
    const from = name.length === "2026-11".length ? `${name}-01` : name;
    const to = name.length === "2026-11".length ? `${name}-31` : name;
    let tokens = 0;
    const days = [...this.#usage.between(from, to), ...this.#directory.lastDays(Date.parse(from))];
    for (const { usage } of days) {
      if (usage.day.startsWith(name)) tokens += usage.prompt_tokens + usage.completion_tokens;
    }
    return { name, tokens };
  }
}
