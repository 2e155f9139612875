import type { ActiveRun } from "../../engine/active-run.ts";
import type { Stores } from "../../storage/stores.ts";
import type { AlarmSource, TeamAlarm } from "../../storage/team-alarm.ts";

/** While a run is active, and after an attempt to erase the team that did not end, it is looked at again after this time. */
const AGAIN_MS = 60_000;
/** A conversation whose first message was refused, or lost in a crash, stays no longer. */
const UNUSED_S = 600;

export interface ExpiryOptions {
  stores: Stores;
  alarm: TeamAlarm;
  engine: { readonly active: ActiveRun | undefined };
}

/** Rings when a team that was made for a while has had no run for that long. A run that only waits does not keep it. */
export class Expiry implements AlarmSource {
  readonly #options: ExpiryOptions;
  /** Epoch milliseconds. Lost with the object; then it is due at once. */
  #again = 0;
  #used = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
    options.alarm.serve(this);
  }

  get dueAt(): number | null {
    const end = this.#end;
    return end === null ? null : Math.max(this.#again, end);
  }

  /** True if the team is to be erased now. Until it is, it is due again in a moment. */
  takeDue(): boolean {
    const { dueAt } = this;
    const now = Date.now();
    if (dueAt === null || dueAt > now) return false;
    this.#again = now + AGAIN_MS;
    return this.isOver;
  }

  /** True if its time is over and no run keeps it. */
  get isOver(): boolean {
    const end = this.#end;
    return end !== null && end <= Date.now() && this.#isIdle;
  }

  /** Epoch milliseconds; null for a team that stays. */
  get #end(): number | null {
    const { expires_in, updated_at, conversation } = this.#options.stores.team.record;
    if (expires_in === undefined) return null;
    const seconds = conversation && !this.#isUsed ? Math.min(expires_in, UNUSED_S) : expires_in;
    return Date.parse(updated_at) + seconds * 1000;
  }

  /** True if there ever was a run. */
  get #isUsed(): boolean {
    this.#used ||= this.#options.stores.runs.last() !== undefined;
    return this.#used;
  }

  get #isIdle(): boolean {
    const status = this.#options.engine.active?.record.status;
    return status === undefined || status === "waiting";
  }
}
