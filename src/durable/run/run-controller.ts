import type { CostOf } from "../../contract/usage/model-usage.ts";
import type { Log } from "../../core/log.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { LiveFeed } from "../stream/live-feed.ts";
import type { TeamAlarm } from "../object/team-alarm.ts";
import type { RunRecord, StoredRun } from "../storage/runs/run-store.ts";
import type { Stores } from "../storage/stores.ts";
import type { RunTelemetry } from "../telemetry/run-telemetry.ts";
import type { ActiveRun } from "./active-run.ts";
import type { DriveOrigin } from "./drive.ts";
import { QueuedRuns } from "./queued-runs.ts";
import { RunAlarm } from "./run-alarm.ts";
import { RunFeed } from "./run-feed.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { RunLoop } from "./run-loop.ts";
import type { Outcome } from "./run-outcome.ts";
import type { TeamCache } from "./team-cache.ts";

export interface RunControllerOptions {
  storage: DurableObjectStorage;
  alarm: TeamAlarm;
  stores: Stores;
  live: LiveFeed;
  team: TeamCache;
  log: Log;
  costOf: CostOf;
  telemetry: RunTelemetry;
}

/**
 * What requests and the alarm do to the active run and the queued ones. Starts the loop whenever the active run needs it,
 * and the next run when it has ended.
 */
export class RunController {
  readonly queued: QueuedRuns;
  readonly #stores: Stores;
  readonly #team: TeamCache;
  readonly #feed: RunFeed;
  readonly #lifecycle: RunLifecycle;
  readonly #loop: RunLoop;

  constructor(options: RunControllerOptions) {
    const { storage, alarm, stores, live, team, log, costOf, telemetry } = options;
    this.#stores = stores;
    this.#team = team;
    const feed = new RunFeed(live);
    const onEnd = (): void => this.#startNext();
    const runAlarm = new RunAlarm(alarm, stores);
    const lifecycle = new RunLifecycle({
      stores,
      team,
      alarm: runAlarm,
      feed,
      log,
      costOf,
      telemetry,
      onEnd,
    });
    this.queued = new QueuedRuns(stores, feed, telemetry);
    this.#feed = feed;
    this.#lifecycle = lifecycle;
    this.#loop = new RunLoop({ storage, stores, team, feed, lifecycle, telemetry });
  }

  get active(): ActiveRun | undefined {
    return this.#lifecycle.active;
  }

  /** The run that no other may start beside: the active one, or the one that starts next. */
  get occupant(): RunRecord | undefined {
    return this.active?.record ?? this.queued.first;
  }

  /** Starts a run whose row was just inserted. */
  start(stored: StoredRun, task: readonly ChatMessage[] | null): void {
    this.#lifecycle.begin(stored, task);
    this.kick("start");
  }

  /** Drives the active run unless it has a drive or has to wait. Without an active run it starts the next one. */
  kick(origin: DriveOrigin = "rest"): void {
    const { active } = this.#lifecycle;
    if (active === undefined) {
      this.#startNext();
      return;
    }
    let action = this.#lifecycle.next(active);
    while (action.do === "answer_by_default") {
      this.#lifecycle.answerByDefault(active, action.questions);
      action = this.#lifecycle.next(active);
    }
    if (action.do === "wait" || this.#lifecycle.drive !== undefined) return;
    // Before the loop makes it durable, so that a turn that ends the process counts as interrupted.
    const goesOn = action.do === "turn" || action.do === "resume";
    if (active.resting && goesOn) this.#lifecycle.wake(active);
    const drive = this.#lifecycle.openDrive(active, origin);
    drive.done = this.#loop
      .run(drive)
      .catch(() => undefined) // Not even the failure could be stored; the alarm tries again.
      .finally(() => this.#lifecycle.closeDrive(drive));
  }

  /** The alarm: set again first, so that it rings again whatever fails below. */
  tick(): void {
    const { active } = this.#lifecycle;
    if (active === undefined) return;
    this.#lifecycle.arm(active);
    const action = this.#lifecycle.next(active);
    if (action.do === "fail") this.end({ status: "failed", error: action.error });
    else this.kick();
  }

  /** A question of the run was answered. */
  answered(): void {
    const { active } = this.#lifecycle;
    if (active === undefined) return;
    this.#lifecycle.answered(active);
    this.kick();
  }

  /** Ends a pause, or takes back the request for one. */
  resume(active: ActiveRun): void {
    this.#lifecycle.resume(active);
    this.kick();
  }

  /** Requests a pause; it begins when the steps under way are done. */
  pause(active: ActiveRun): void {
    active.record.pause_requested = true;
    this.#stores.runs.update(active.stored);
    this.#lifecycle.drive?.interrupt();
    this.kick();
  }

  /**
   * Stores that the run is to complete after its turn. A resting run completes at once; the promise resolves when it
   * has.
   */
  stop(active: ActiveRun): Promise<void> | undefined {
    this.#stores.runs.update(active.stored);
    if (!active.resting) return undefined;
    this.kick();
    return this.#lifecycle.drive?.done;
  }

  /** Ends the active run now, giving up its turn in progress. */
  end(outcome: Outcome): void {
    this.#lifecycle.end(outcome);
  }

  /** Cancels the active run in favour of one that the caller starts in the same go, before the queued ones. */
  preempt(): void {
    this.#lifecycle.preempt();
  }

  /** The team is deleted: cancels its runs and forgets everything. */
  destroy(): void {
    this.queued.cancelAll();
    this.end({ status: "cancelled" });
    this.#lifecycle.leave();
    this.#team.drop();
    this.#feed.release();
  }

  /** Resolves when the run has ended, waits for a human or is paused, or after `ms`; not while it is queued. */
  async untilRest(id: string, ms: number): Promise<void> {
    const end = Date.now() + ms;
    for (let left = ms; left > 0 && this.#goesOn(id); left = end - Date.now()) {
      await this.#feed.untilRest(left);
    }
  }

  #goesOn(id: string): boolean {
    const { active } = this;
    if (active?.record.id === id) return active.record.status === "running";
    return this.queued.has(id);
  }

  #startNext(): void {
    const next = this.queued.take();
    if (next === undefined) return;
    this.#lifecycle.begin(next.stored, next.task);
    // Not as a start: its request was answered long ago, and a turn that ends the process must not take the end of the
    // run before with it.
    this.kick("rest");
  }
}
