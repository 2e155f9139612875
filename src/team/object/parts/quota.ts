import { within } from "../../../core/wait.ts";
import { errorMessage } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { refuse, type Refused, type Result } from "../../../contract/result.ts";
import { NEWER_DATA, refuseStored } from "../../../contract/stored-data.ts";
import { limitReached } from "../../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../../contract/tenant/tenant.ts";
import type { AdmissionRequest, TenantOfTeam } from "../../../contract/gateways/tenant-gateway.ts";
import type { AdmissionDecision } from "../../engine/requests/admission.ts";
import type { TenantBudget } from "../../engine/journal/tenant-budget.ts";
import type { Announcer } from "../../storage/outbox/announcer.ts";
import type { LiveFeed } from "../../stream/live-feed.ts";
import { makePlace } from "../../stream/stream-places.ts";

/** A tenant that does not answer in this time refuses nothing. */
const PATIENCE_MS = 1_000;
/** Streams that end at the same time are reported together. */
const GATHER_MS = 200;
/** Open streams are reported again, or the tenant takes them for closed. */
const REPORT_MS = 60_000;
const MINUTE_MS = 60_000;

const encoder = new TextEncoder();

export interface QuotaOptions {
  team: string;
  /** Undefined for a team that no tenant lists. */
  tenant: Pick<TenantOfTeam, "admit"> | undefined;
  /** The deployment's limits, until the tenant has sent its own. */
  limits: TenantLimits;
  storage: { readonly sql: Pick<SqlStorage, "databaseSize"> };
  live: Pick<LiveFeed, "streams" | "isHeld" | "streamsOf" | "closeOldest">;
  /** It learns the tenant's limits. Undefined for a team that no tenant lists. */
  budget: Pick<TenantBudget, "learn"> | undefined;
  /** It learns whether the tenant wants the team's messages. */
  announcer: Pick<Announcer, "setWantsMessages">;
  log: Log;
}

/** Checks a team's requests against its tenant's limits. While the tenant's object is down or slow, it admits and logs them. */
export class Quota {
  readonly #options: QuotaOptions;
  #limits: TenantLimits;
  /** A token bucket that holds the bytes of one minute. */
  #bytes: { left: number; at: number };
  #report: ReturnType<typeof setTimeout> | undefined;
  /** The streams that the tenant counts. */
  #reported = 0;
  #closed = false;
  /** True if the tenant could not be asked the last time. */
  #isUnasked = false;

  constructor(options: QuotaOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#bytes = { left: options.limits.message_bytes_per_minute, at: Date.now() };
  }

  /** Asks the tenant about the run of a request. @param decided the decision of the team alone @returns it, or the refusal */
  async admit(
    decided: Result<AdmissionDecision>,
    task: unknown,
  ): Promise<Result<AdmissionDecision>> {
    if (!decided.ok || decided.value.do === "replay") return decided;
    if (decided.value.do === "steer")
      return this.refuseStored() ?? this.refuseMessage(task) ?? decided;
    return (await this.refuseRun(decided.value.beside, task)) ?? decided;
  }

  /** The same for a run that is started with its stream, which gets a place. */
  async admitStreamed(
    decided: Result<AdmissionDecision>,
    { task, credential }: { task: unknown; credential: string },
  ): Promise<Result<AdmissionDecision>> {
    if (!decided.ok) return decided;
    const admission = decided.value;
    const refused = await makePlace(this.#options.live, credential, this.#mostStreams, () =>
      admission.do === "start" || admission.do === "queue"
        ? this.refuseRun(admission.beside, task, this.#oneMore)
        : undefined,
    );
    if (refused) return refused;
    return admission.do === "steer"
      ? (this.refuseStored() ?? this.refuseMessage(task) ?? decided)
      : decided;
  }

  /** Makes a place for one more stream of a credential, or says why it may not be opened. */
  placeOfStream(credential: string): Promise<Refused | undefined> {
    return makePlace(this.#options.live, credential, this.#mostStreams, () =>
      this.#ask({ streams: this.#oneMore }),
    );
  }

  /**
   * The refusal of a run; undefined if it may start.
   *
   * @param beside true if the team has another run, which it follows or replaces
   * @param streams the open streams with that of the run; undefined for a run without one
   */
  async refuseRun(beside: boolean, task: unknown, streams?: number): Promise<Refused | undefined> {
    const run = beside ? "beside" : "alone";
    const refused = await this.#ask({ run, ...(streams !== undefined && { streams }) });
    if (refused) return refused;
    const refusedHere = this.refuseStored() ?? this.refuseMessage(task);
    if (refusedHere && streams !== undefined) this.streamEnded();
    return refusedHere;
  }

  /** The refusal of a task or an answer, whose bytes are counted; undefined if it may be taken. */
  refuseMessage(message: unknown): Refused | undefined {
    const { message_bytes_per_minute: most } = this.#limits;
    const now = Date.now();
    const { left, at } = this.#bytes;
    const refilled = Math.min(most, left + (Math.max(0, now - at) / MINUTE_MS) * most);
    const size = encoder.encode(JSON.stringify(message ?? null)).byteLength;
    // A message larger than a whole minute's bytes would never fit.
    if (Math.min(size, most) > refilled) {
      this.#bytes = { left: refilled, at: now };
      return limitReached("message_bytes", {
        limit: "message_bytes_per_minute",
        value: most,
        window: 60,
        seconds: most === 0 ? 60 : ((Math.min(size, most) - refilled) / most) * 60,
      });
    }
    this.#bytes = { left: refilled - size, at: now };
    return undefined;
  }

  /** A stream has ended, or one that the tenant counts was not opened. */
  streamEnded(): void {
    this.#reportIn(GATHER_MS);
  }

  /** The open streams, when the tenant counts others: the next call reports them. */
  get unreportedStreams(): number | undefined {
    const { streams } = this.#options.live;
    return streams === this.#reported ? undefined : streams;
  }

  /** The tenant knows this number of open streams. */
  streamsReported(streams: number): void {
    this.#reported = streams;
    // No timer without a stream that does so anyway: it would keep the object in memory.
    if (this.#options.live.isHeld) this.#reportIn(REPORT_MS);
    else clearTimeout(this.#report);
  }

  /** The team is deleted, and reports nothing from now on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#report);
  }

  /** The refusal to store more; undefined if it may be stored. */
  refuseStored(): Refused | undefined {
    const { stored_bytes_per_team: value } = this.#limits;
    const stored = this.#options.storage.sql.databaseSize;
    if (stored < value) return undefined;
    return refuse(
      507,
      "too_many_stored_bytes",
      `The team stores ${stored} bytes; its limit stored_bytes_per_team is ${value}. Fork it at an earlier turn, or after a reset: a reset alone keeps what was said before it.`,
      { limit: "stored_bytes_per_team", value },
    );
  }

  /** Streams that one credential may have open at the same time. */
  get #mostStreams(): number {
    return this.#limits.streams_per_credential;
  }

  /** The open streams with one that is about to be opened. */
  get #oneMore(): number {
    return this.#options.live.streams + 1;
  }

  async #ask(request: Omit<AdmissionRequest, "team">): Promise<Refused | undefined> {
    const { team, tenant, budget, announcer } = this.#options;
    if (tenant === undefined) return undefined;
    const admitted = await within(PATIENCE_MS, tenant.admit({ ...request, team })).catch(
      (error: unknown) => this.#unasked(error),
    );
    if (admitted === undefined) return undefined;
    if (!admitted.ok) return admitted;
    this.#isUnasked = false;
    // The team was deleted in the meantime.
    if (this.#closed) return undefined;
    this.#limits = admitted.value.limits;
    budget?.learn(this.#limits);
    announcer.setWantsMessages(admitted.value.messages);
    if (request.streams !== undefined) this.streamsReported(request.streams);
    return undefined;
  }

  /**
   * The tenant cannot be asked: nothing is refused, and the log has the first time in a row. Data of a newer version stay unusable for
   * as long as this one runs, so that the tenant's limits would be off: they refuse.
   */
  #unasked(error: unknown): Refused | undefined {
    const refused = refuseStored(error);
    if (refused?.problem.code === NEWER_DATA) return refused;
    const { team, log } = this.#options;
    if (!this.#isUnasked) log({ event: "limits_unchecked", team, error: errorMessage(error) });
    this.#isUnasked = true;
    return undefined;
  }

  #reportIn(ms: number): void {
    clearTimeout(this.#report);
    this.#report = setTimeout(() => {
      const { streams } = this.#options.live;
      if (streams > 0 || this.#reported > 0) void this.#ask({ streams });
    }, ms);
  }
}
