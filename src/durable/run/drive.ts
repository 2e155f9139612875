import type { Moment } from "../../core/run/turn-host.ts";
import type { ActiveRun } from "./active-run.ts";

/**
 * `start`: of a new run; `rest`: after an answer, a pause, a wait or a time in the queue; `recovery`: the run needed something when the object
 * was loaded, so the drive before was interrupted.
 */
export type DriveOrigin = "start" | "rest" | "recovery";

/**
 * One stretch of running: from a start, an answer or a recovery to the next rest or the end of the run. It is the fence
 * for everything that runs in it: loop, turn and journal write nothing once it is superseded.
 */
export class Drive {
  readonly active: ActiveRun;
  readonly origin: DriveOrigin;
  /** Resolves when the loop has returned. */
  done: Promise<void> = Promise.resolve();
  /** Whether a question was answered since the turn in progress began. */
  answered = false;
  #superseded = false;
  readonly #abort = new AbortController();
  readonly #sleepers = new Set<() => void>();
  readonly #startedAt = Date.now();
  readonly #ranBefore: number;

  constructor(active: ActiveRun, origin: DriveOrigin) {
    this.active = active;
    this.origin = origin;
    this.#ranBefore = active.ran(this.#startedAt);
  }

  /** True once the run rests, has ended, or belongs to another drive. */
  get superseded(): boolean {
    return this.#superseded;
  }

  /** Aborts when effects under way have to stop. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  clock(): Moment {
    const at = Date.now();
    return { at, ran: this.#ranBefore + Math.max(0, at - this.#startedAt) };
  }

  /** Ends the drive after its last turn: nothing is under way. */
  end(): void {
    this.#superseded = true;
  }

  /** Ends the drive in the middle of a turn: effects under way are aborted. */
  cancel(): void {
    this.#superseded = true;
    this.#abort.abort();
    this.interrupt();
  }

  /** Waits in memory; a pause or a cancellation ends the wait early. */
  async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const sleepers = this.#sleepers;
      const timer = setTimeout(done, ms);
      sleepers.add(done);
      function done(): void {
        clearTimeout(timer);
        sleepers.delete(done);
        resolve();
      }
    });
  }

  /** Ends waits between attempts. */
  interrupt(): void {
    for (const wake of this.#sleepers) wake();
  }
}
