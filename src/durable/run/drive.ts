import type { TroupeError } from "../../core/errors.ts";
import type { ActiveRun } from "./active-run.ts";
import type { TurnControl, TurnJournal } from "./turn-journal.ts";

/** What a drive's turns can make its driver do. */
export interface DriveActions {
  isCurrent(): boolean;
  discard(messageId: string): void;
  asked(): void;
  retractOutstanding(): void;
  refusal(): TroupeError | undefined;
  fail(error: TroupeError): void;
}

/** One stretch of running: from a start, an answer or a recovery to the next rest or the end. */
export class Drive {
  readonly active: ActiveRun;
  /** Of the turn in progress. */
  journal: TurnJournal | undefined;
  /** Resolves when it has come to rest or to the end. */
  over: Promise<void> = Promise.resolve();
  readonly #abort = new AbortController();
  readonly #sleepers = new Set<() => void>();
  readonly #startedAt = Date.now();
  readonly #ranBefore: number;
  #answers = 0;

  constructor(active: ActiveRun) {
    this.active = active;
    this.#ranBefore = active.ran(this.#startedAt);
  }

  /** Milliseconds the run had been running at `now`. */
  ran(now: number): number {
    return this.#ranBefore + Math.max(0, now - this.#startedAt);
  }

  /** Another one took over, or the run is over: effects under way are told to stop. */
  supersede(): void {
    this.#abort.abort();
    this.interrupt();
  }

  /** Ends waits between attempts. */
  interrupt(): void {
    for (const wake of this.#sleepers) wake();
  }

  noteAnswer(): void {
    this.#answers++;
  }

  /** Whether answers came since this was asked last: a turn that waits for one has to look again. */
  takeAnswers(): boolean {
    const answers = this.#answers;
    this.#answers = 0;
    return answers > 0;
  }

  control(actions: DriveActions): TurnControl {
    const { record } = this.active;
    const abort = this.#abort.signal;
    return {
      signal: abort,
      get stopRequested() {
        return record.stop_requested !== null;
      },
      get pauseRequested() {
        return record.pause_requested;
      },
      get current() {
        return actions.isCurrent();
      },
      clock: () => {
        const at = Date.now();
        return { at, ran: this.ran(at) };
      },
      sleep: (ms) => this.#sleep(ms),
      discard: (messageId) => actions.discard(messageId),
      asked: () => actions.asked(),
      retractOutstanding: () => actions.retractOutstanding(),
      refusal: () => actions.refusal(),
      fail: (error) => actions.fail(error),
    };
  }

  async #sleep(ms: number): Promise<void> {
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
}
