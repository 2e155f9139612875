import { RecentUsage } from "./recent-usage.ts";

/** A request to run code, as the scheduler sees it. */
export interface Job {
  session: string;
  /** The longest that it may run, by its own time limits. */
  limitMs: number;
  /** Whether the code may be stopped and run again: it has no effects outside of its workspace. */
  repeatable: boolean;
  /** Aborted when the job is cancelled. */
  signal: AbortSignal;
  /** Called when the job cannot start at once. */
  onWait(): void;
}

/** A place that a job has. */
export interface Place {
  /** Aborted when the job has to stop and enter again, to make room for another session. */
  interrupted: AbortSignal;
  /** Says that the code begins to run: the start of an interpreter does not count, which takes long on a busy machine. */
  begin(): void;
  /** Gives the place back. */
  leave(): void;
}

export interface SchedulerOptions {
  /** Ordinary places: any job may have one, in order of arrival. */
  concurrency: number;
  /** More places, for sessions that have run little code lately. */
  reserved: number;
  /** Milliseconds of recent code that count as little. */
  shortMs: number;
}

/** A job with this time limit or a lower one is never interrupted. Inspections of Python functions have it. */
const UNINTERRUPTED_MS = 10_000;

/** A job that waits or runs. */
interface Entry {
  readonly job: Job;
  /** Its place in the order of arrival; an interrupted job keeps its number. */
  readonly number: number;
  readonly interrupt: AbortController;
  /** Undefined until the code runs. */
  startedAt: number | undefined;
  reserved: boolean;
  admit: () => void;
}

/**
 * Decides which jobs run. Long code of a few sessions must not keep all others waiting, and how long code runs is only known
 * afterwards. So there are reserved places beside the ordinary ones, for sessions that have run little code lately. A job in a
 * reserved place moves to an ordinary one when it is its turn. If it runs for longer than `shortMs` while another session
 * waits for a reserved place, it is interrupted and starts again later, in an ordinary place. Therefore a session that has
 * run little code waits for at most `shortMs` for each such session that came before it.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #usage = new RecentUsage();
  readonly #interrupted = new WeakMap<Job, number>();
  readonly #waiting = new Set<Entry>();
  readonly #running = new Set<Entry>();
  #arrivals = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Resolves with a place, or with undefined when the job is cancelled before it has one. */
  async enter(job: Job): Promise<Place | undefined> {
    if (job.signal.aborted) return undefined;
    const admitted = Promise.withResolvers<boolean>();
    const entry: Entry = {
      job,
      number: this.#interrupted.get(job) ?? this.#arrivals++,
      interrupt: new AbortController(),
      startedAt: undefined,
      reserved: false,
      admit: () => admitted.resolve(true),
    };
    const cancel = (): void => {
      if (this.#waiting.delete(entry)) admitted.resolve(false);
    };
    job.signal.addEventListener("abort", cancel, { once: true });
    this.#waiting.add(entry);
    this.#dispatch();
    if (this.#waiting.has(entry)) job.onWait();
    const granted = await admitted.promise;
    job.signal.removeEventListener("abort", cancel);
    if (!granted) return undefined;
    return {
      interrupted: entry.interrupt.signal,
      begin: () => this.#begin(entry),
      leave: () => this.#leave(entry),
    };
  }

  #begin(entry: Entry): void {
    if (entry.startedAt !== undefined) return;
    entry.startedAt = performance.now();
    this.#dispatch();
  }

  #leave(entry: Entry): void {
    if (!this.#running.delete(entry)) return;
    const now = performance.now();
    this.#usage.add(entry.job.session, now - (entry.startedAt ?? now));
    this.#dispatch();
  }

  #dispatch(): void {
    clearTimeout(this.#timer);
    const { concurrency, reserved } = this.#options;
    while (this.#count(false) < concurrency) {
      const next = this.#oldest();
      if (next === undefined) return;
      if (this.#running.has(next)) next.reserved = false;
      else this.#admit(next, false);
    }
    const eligible = this.#eligible();
    while (this.#count(true) < reserved) {
      const next = eligible.shift();
      if (next === undefined) return;
      this.#admit(next, true);
    }
    this.#makeRoom(eligible.length);
  }

  #admit(entry: Entry, reserved: boolean): void {
    this.#waiting.delete(entry);
    entry.reserved = reserved;
    this.#running.add(entry);
    entry.admit();
  }

  /** Interrupts jobs in reserved places that have run for too long, or sets a timer for the first that will have. */
  #makeRoom(wanted: number): void {
    const { shortMs } = this.#options;
    const reserved = [...this.#running].filter((entry) => entry.reserved);
    let missing = wanted - reserved.filter(({ interrupt }) => interrupt.signal.aborted).length;
    const now = performance.now();
    for (const entry of reserved.toSorted((a, b) => (a.startedAt ?? now) - (b.startedAt ?? now))) {
      if (missing <= 0) return;
      const { repeatable, limitMs } = entry.job;
      if (!repeatable || limitMs <= UNINTERRUPTED_MS || entry.interrupt.signal.aborted) continue;
      // A job that has not started causes another dispatch when it begins.
      if (entry.startedAt === undefined) continue;
      const remainingMs = entry.startedAt + shortMs - now;
      if (remainingMs > 0) {
        this.#timer = setTimeout(() => this.#dispatch(), Math.ceil(remainingMs)).unref();
        return;
      }
      this.#interrupted.set(entry.job, entry.number);
      entry.interrupt.abort();
      missing--;
    }
  }

  /** The next for an ordinary place: a job that waits, or one that runs in a reserved place and is not interrupted. */
  #oldest(): Entry | undefined {
    const movable = [...this.#running].filter(
      ({ reserved, interrupt }) => reserved && !interrupt.signal.aborted,
    );
    return [...this.#waiting, ...movable].toSorted((a, b) => a.number - b.number)[0];
  }

  /** Waiting jobs that may have a reserved place, those with the shortest time limit first. */
  #eligible(): Entry[] {
    return [...this.#waiting]
      .filter(({ job }) => !this.#interrupted.has(job))
      .filter(({ job }) => this.#usage.of(job.session) < this.#options.shortMs)
      .toSorted((a, b) => a.job.limitMs - b.job.limitMs || a.number - b.number);
  }

  #count(reserved: boolean): number {
    let count = 0;
    for (const entry of this.#running) if (entry.reserved === reserved) count++;
    return count;
  }
}
