import type { Moment } from "../../core/run/turn-host.ts";
import type { ActiveRun } from "./active-run.ts";
import { alarmTime } from "./alarm-time.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import { namedFrame } from "../stream/frames.ts";
import type { LiveFeed } from "../stream/live-feed.ts";
import type { Stores } from "../storage/stores.ts";

/** Tells storage, the alarm, streams and waiting callers what became of the run. */
export class Announcer {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #live: LiveFeed;
  readonly #waiting = new Set<() => void>();
  #soon = false;

  constructor(storage: DurableObjectStorage, stores: Stores, live: LiveFeed) {
    this.#storage = storage;
    this.#stores = stores;
    this.#live = live;
  }

  /** The run's status is another one. */
  changed(active: ActiveRun, now: Moment): void {
    const { record, stored } = active;
    record.usage = active.usage;
    record.next_turn = active.next;
    record.turn = active.turn - 1;
    this.#stores.runs.update(stored);
    this.arm(active, now);
    this.run(active);
    if (record.status === "running") {
      this.#live.wake();
    } else {
      this.#live.rest();
      this.release();
    }
  }

  /** Sets the alarm to when something has to happen by itself. */
  arm(active: ActiveRun, now: Moment): void {
    const open = this.#stores.questions.open(active.record.id);
    const time = alarmTime(active, open, now.at, now.ran);
    if (time === null) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(time);
  }

  /** Shows the run as it is now. */
  run(active: ActiveRun): void {
    if (this.#live.connected > 0) this.#live.send(namedFrame("run", active.info()));
  }

  /**
   * Shows the run when what happens at once has happened. Where that is a change of status, which shows it, too, or its
   * end, there is nothing to add.
   */
  runSoon(active: ActiveRun): void {
    if (this.#soon) return;
    this.#soon = true;
    setTimeout(() => {
      this.#soon = false;
      if (active.record.status === "running") this.run(active);
    }, 0);
  }

  events(events: readonly (RecordedEvent | undefined)[]): void {
    for (const event of events) if (event) this.#live.event(event);
  }

  /** The run has ended with these events; a cancelled run's terminal event is itself a frame of the run. */
  ended(active: ActiveRun, retract: RecordedEvent | undefined, terminal: RecordedEvent): void {
    void this.#storage.deleteAlarm();
    this.#live.endTexts("discard");
    this.events([retract]);
    if (active.record.status !== "cancelled") this.run(active);
    this.events([terminal]);
    this.#live.wake();
    this.#live.close("of_run");
    this.release();
  }

  /** Nothing will happen to the run that is worth waiting for: it is over, or somebody has to act. */
  release(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when the present run has ended or somebody has to act, or after `ms`. */
  async untilRest(ms: number): Promise<void> {
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
