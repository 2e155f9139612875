/** A part of the team that has work at a certain time, without a request. */
export interface AlarmSource {
  /** Epoch milliseconds; null when nothing is due. */
  readonly dueAt: number | null;
}

/** An alarm that would fire slightly early is kept as it is, because each setting is billed as a written row. */
const EARLY_MS = 20_000;

/** The runtime refuses alarms after the year 2189. An alarm that fires early is set again. */
const FURTHEST_MS = 365 * 86_400_000;

/** The object's one alarm: it fires when the first of its sources is due. */
export class TeamAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #sources = new Set<AlarmSource>();
  /** When each source was due when it was last asked. */
  readonly #dues = new Map<AlarmSource, number | null>();
  /** The time it is set to: null for none, undefined while unknown. */
  #time: number | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  serve(source: AlarmSource): void {
    this.#sources.add(source);
  }

  /**
   * Sets the alarm again. Must be called whenever a source may be due at another time.
   *
   * @param only the source whose time has changed, when the others are not due before it unless they were so the last time
   */
  set(only?: AlarmSource): void {
    for (const source of this.#sources) {
      if (only === undefined || only === source || !this.#dues.has(source)) {
        this.#dues.set(source, source.dueAt);
      }
    }
    const dues = [...this.#dues.values()].filter((due) => due !== null);
    const now = Date.now();
    const due = dues.length === 0 ? null : Math.min(now + FURTHEST_MS, ...dues);
    const time = this.#time;
    if (due === null) {
      if (time !== null) void this.#storage.deleteAlarm();
    } else {
      if (time != null && time > now && time <= due && due - time < EARLY_MS) return;
      void this.#storage.setAlarm(due);
    }
    this.#time = due;
  }

  /**
   * A source is not due any more. An alarm that fires soon is kept, whatever is due, so that no source is asked before it is set again.
   *
   * @param isSetSoon whether that follows soon: it must not wake an object for which nothing is due
   */
  over(source: AlarmSource, isSetSoon: boolean): void {
    const now = Date.now();
    const time = this.#time;
    this.#dues.clear();
    if (!isSetSoon || time == null || time <= now || time - now >= EARLY_MS) this.set();
    else this.#dues.set(source, null);
  }

  /**
   * Sets the alarm if a source is due but no alarm is set: after a rollback, an earlier version of the code sets no
   * alarm for sources it does not have.
   */
  async restore(): Promise<void> {
    if ([...this.#sources].every(({ dueAt }) => dueAt === null)) return;
    const stored = await this.#storage.getAlarm();
    if (stored === null && this.#time === undefined) this.set();
  }

  /** Records that the alarm fired and is not set any more. */
  fired(): void {
    this.#time = null;
  }
}
