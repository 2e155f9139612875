import { within } from "../../../core/wait.ts";
import { errorMessage } from "../../../core/errors.ts";
import type { Log } from "../../../core/log.ts";
import { refuse, type Refused } from "../../../contract/result.ts";
import { NEWER_DATA, refuseStored } from "../../../contract/stored-data.ts";
import { limitReached } from "../../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../../contract/tenant/tenant.ts";
import type { AdmissionRequest, TenantOfTeam } from "../../../contract/gateways/tenant-gateway.ts";

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
  storedBytes: () => number;
  openStreams: () => number;
  /** True while one of the streams keeps the object in memory. */
  isHeld: () => boolean;
  /** The tenant's limits have arrived. */
  learnLimits: (limits: TenantLimits) => void;
  log: Log;
  /** The tenant says whether it wants the team's messages. */
  sendMessages: (wanted: boolean) => void;
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

  /**
   * The refusal of a run; undefined if it may start.
   *
   * @param beside whether the team has another one, which it follows or replaces
   * @param stream whether it is started with a stream
   */
  async refuseRun(
    beside: boolean,
    { task, stream }: { task: unknown; stream: boolean },
  ): Promise<Refused | undefined> {
    const refused = await this.#ask({
      run: beside ? "beside" : "alone",
      ...(stream && { streams: this.#options.openStreams() + 1 }),
    });
    if (refused) return refused;
    const refusedHere = this.refuseStored() ?? this.refuseMessage(task);
    if (refusedHere && stream) this.streamEnded();
    return refusedHere;
  }

  /** The refusal of one more stream; undefined if it may be opened. */
  refuseStream(): Promise<Refused | undefined> {
    return this.#ask({ streams: this.#options.openStreams() + 1 });
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

  /** Streams that one credential may have open at the same time. */
  get streamsPerCredential(): number {
    return this.#limits.streams_per_credential;
  }

  /** A stream has ended, or one that the tenant counts was not opened. */
  streamEnded(): void {
    this.#reportIn(GATHER_MS);
  }

  /** The open streams, when the tenant counts others: the next call reports them. */
  get unreportedStreams(): number | undefined {
    const streams = this.#options.openStreams();
    return streams === this.#reported ? undefined : streams;
  }

  /** The tenant knows this number of open streams. */
  streamsReported(streams: number): void {
    this.#reported = streams;
    // No timer without a stream that does so anyway: it would keep the object in memory.
    if (this.#options.isHeld()) this.#reportIn(REPORT_MS);
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
    const stored = this.#options.storedBytes();
    if (stored < value) return undefined;
    return refuse(
      507,
      "too_many_stored_bytes",
      `The team stores ${stored} bytes; its limit stored_bytes_per_team is ${value}. Fork it at an earlier turn, or after a reset: a reset alone keeps what was said before it.`,
      { limit: "stored_bytes_per_team", value },
    );
  }

  async #ask(request: Omit<AdmissionRequest, "team">): Promise<Refused | undefined> {
    const { team, tenant } = this.#options;
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
    this.#options.learnLimits(this.#limits);
    this.#options.sendMessages(admitted.value.messages);
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
      const streams = this.#options.openStreams();
      if (streams > 0 || this.#reported > 0) void this.#ask({ streams });
    }, ms);
  }
}
