import type { Moment } from "../../core/turn/turn-host.ts";
import type { ExecutionOrigin, Fence } from "./journal/fence.ts";

/**
 * One stretch of running: from a start, an answer or a recovery to the time that the run is idle or ends. It is the fence, the
 * clock and the abort signal of everything that runs in it, and knows nothing of it.
 */
export class Execution implements Fence {
  readonly origin: ExecutionOrigin;
  superseded = false;
  readonly signal: AbortSignal;
  /** True if a question was answered since the turn in progress began. */
  answered = false;
  /** Resolves when nothing runs in it any more. */
  done: Promise<void> = Promise.resolve();
  readonly #abort = new AbortController();
  readonly #sleepers = new Set<() => void>();
  readonly #startedAt: number;
  readonly #ranBefore: number;

  /** @param startedAt epoch milliseconds @param ranBefore milliseconds that the run had been running by then */
  constructor(origin: ExecutionOrigin, startedAt: number, ranBefore: number) {
    this.origin = origin;
    this.signal = this.#abort.signal;
    this.#startedAt = startedAt;
    this.#ranBefore = ranBefore;
  }

  clock(): Moment {
    const at = Date.now();
    return { at, ran: this.#ranBefore + Math.max(0, at - this.#startedAt) };
  }

  /** Ends the execution after its last turn: nothing is under way. */
  end(): void {
    this.superseded = true;
  }

  /** Ends the execution in the middle of a turn: effects under way are aborted. */
  cancel(): void {
    this.superseded = true;
    this.#abort.abort();
    this.interrupt();
  }

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
