/** A part of the team that needs the object at a certain time, without a request. */
export interface AlarmSource {
  /** Epoch milliseconds; null while nothing is due. */
  readonly dueAt: number | null;
}

/** An alarm that rings a little early is not set again for that: each setting is billed as a written row. */
const EARLY_MS = 20_000;

/** The runtime refuses alarms after the year 2189. One that rings early is set again. */
const FURTHEST_MS = 365 * 86_400_000;

/** The object's one alarm: it rings when the first of its sources is due. */
export class TeamAlarm {
  readonly #storage: DurableObjectStorage;
  readonly #sources: AlarmSource[] = [];
  /** What it is set to: null for none, undefined while that is not known. */
  #time: number | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  serve(source: AlarmSource): void {
    this.#sources.push(source);
  }

  /** Sets it anew; to be called whenever a source may be due at another time. */
  arm(): void {
    const dues = this.#sources.flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]));
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
   * Sets it if it is not set although a source will be due: an earlier version of the code, after a rollback, sets no alarm
   * for sources it does not have.
   */
  async restore(): Promise<void> {
    if (this.#sources.every(({ dueAt }) => dueAt === null)) return;
    const stored = await this.#storage.getAlarm();
    if (stored === null && this.#time === undefined) this.arm();
  }

  /** It rang, so it is not set any more. */
  rang(): void {
    this.#time = null;
  }
}
