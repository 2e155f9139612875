import type { RunInfo } from "../../../contract/run.ts";
import type { RetryingFrame } from "../../../contract/stream/stream-frame.ts";
import type { RecordedEvent } from "../../storage/log/event-log.ts";
import type { LiveFeed } from "../../stream/live-feed.ts";
import type { RunInView } from "./run-in-view.ts";
import { activityOf } from "./run-info.ts";

/** Steps that end within this time are not shown: most of them do in tests and with tools that only compute. */
const SHOWN_AFTER_MS = 50;
/** The longest wait of the frame with the steps for other frames, such as the first ones of a model's text. */
const SHOWN_WITHIN_MS = 50;

/** Sends frames that show the active run to connected clients, and resolves the calls that wait for it. Stores nothing. */
export class RunFeed {
  readonly #live: LiveFeed;
  readonly #waiting = new Set<() => void>();
  #runPending = false;
  #activityTimer: ReturnType<typeof setTimeout> | undefined;
  /** True if clients were last shown any steps under way. */
  #showsSteps = false;

  constructor(live: LiveFeed) {
    this.#live = live;
  }

  /** The run's status has changed. */
  statusChanged(active: RunInView): void {
    this.#forgetActivity();
    this.run(active);
    const { status } = active.record;
    if (status === "running") {
      this.#live.stayOpen();
    } else {
      this.#live.becomeIdle(status);
      this.release();
    }
  }

  /** A person has sent a message into the run. */
  sentIn(event: RecordedEvent): void {
    this.#live.event(event);
  }

  /** Shows the run as it is now. */
  run(active: RunInView): void {
    if (this.#live.isWatched) this.#live.send({ event: "run", data: active.info() });
  }

  /**
   * Shows the run after the present task of the event loop, once for all its changes. A change of status or the end of
   * the run in the meantime has shown it already.
   */
  runSoon(active: RunInView): void {
    if (this.#runPending) return;
    this.#runPending = true;
    setTimeout(() => {
      this.#runPending = false;
      if (active.record.status === "running") this.run(active);
    }, 0);
  }

  /** Shows the steps under way, soon and once for all their changes. */
  activitySoon(active: RunInView): void {
    if (!this.#live.isWatched) return;
    this.#activityTimer ??= setTimeout(() => {
      this.#activityTimer = undefined;
      const data = activityOf(active);
      if (data.steps.length === 0 && !this.#showsSteps) return;
      this.#showsSteps = data.steps.length > 0;
      this.#live.send({ event: "activity", data }, SHOWN_WITHIN_MS);
    }, SHOWN_AFTER_MS);
  }

  /** The run is idle or has ended, which the frame `run` shows. */
  #forgetActivity(): void {
    clearTimeout(this.#activityTimer);
    this.#activityTimer = undefined;
    this.#showsSteps = false;
  }

  /** An attempt at a step has failed, and there will be another one. */
  retrying(data: RetryingFrame): void {
    if (this.#live.isWatched) this.#live.send({ event: "retrying", data });
  }

  /** The run has ended with these events; a cancelled run's terminal event is itself a frame of the run. */
  ended(active: RunInView, retract: RecordedEvent | undefined, terminal: RecordedEvent): void {
    this.#forgetActivity();
    this.#live.endTexts("discard");
    if (retract) this.#live.event(retract);
    if (active.record.status !== "cancelled") this.run(active);
    this.#live.event(terminal);
    this.#live.stayOpen();
    this.#live.close(active.record.id);
    this.release();
  }

  /** A run was queued. */
  queued(run: RunInfo): void {
    this.#live.sendAbout(run.id, (writer) => writer.live({ event: "run", data: run }));
  }

  /** A queued run is about to begin: its clients follow the active run from now on. */
  begins(run: string): void {
    this.#live.begin(run);
  }

  /** A queued run was cancelled. */
  dequeued(run: string, terminal: RecordedEvent): void {
    this.#live.sendAbout(run, (writer) => writer.recorded(terminal));
    this.#live.close(run);
    this.release();
  }

  /** Wakes the callers of {@link untilIdle}. */
  release(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the run has ended, waits or is paused, or after `ms`. @param isRunning whether it still runs or is queued */
  async untilIdle(ms: number, isRunning: () => boolean): Promise<void> {
    const end = Date.now() + ms;
    for (let left = ms; left > 0 && isRunning(); left = end - Date.now()) {
      await this.#nextRelease(left);
    }
  }

  async #nextRelease(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const waiting = this.#waiting;
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
  }
}
