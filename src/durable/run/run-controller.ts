import { TroupeError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import { ActiveRun } from "./active-run.ts";
import { timeLeft } from "./alarm-time.ts";
import { Announcer } from "./announcer.ts";
import { Drive } from "./drive.ts";
import { failureEntry } from "./failure-entry.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import type { LiveFeed } from "../stream/live-feed.ts";
import type { TeamCache } from "./team-cache.ts";
import { defaultAnswer } from "../storage/question-store.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import type { Stores } from "../storage/stores.ts";
import { type LoopHost, RunLoop } from "./run-loop.ts";

export interface RunControllerOptions {
  storage: DurableObjectStorage;
  stores: Stores;
  live: LiveFeed;
  team: TeamCache;
  log: Log;
}

/**
 * Decides about the run in progress. What changes its status is synchronous and writes everything in one go, so a crash
 * finds it either done or not begun. At most one drive is under way; one that was superseded writes nothing any more.
 */
export class RunController {
  readonly #stores: Stores;
  readonly #live: LiveFeed;
  readonly #team: TeamCache;
  readonly #announcer: Announcer;
  readonly #loop: RunLoop;
  readonly #log: Log;
  #active: ActiveRun | undefined;
  #drive: Drive | undefined;
  /** Whether the run was found with work to do when the object was loaded. */
  #recovering: boolean;

  constructor({ storage, stores, live, team, log }: RunControllerOptions) {
    this.#log = log;
    this.#stores = stores;
    this.#live = live;
    this.#team = team;
    this.#announcer = new Announcer(storage, stores, live);
    const host: LoopHost = {
      isCurrent: (drive) => this.#drive === drive,
      clock: () => this.clock(),
      rest: (active, status) => this.#rest(active, status),
      recovered: ({ record, turn }) => {
        const { recoveries } = record;
        const ids = { team: stores.team.record.id, run: record.id };
        log({ event: "run_recovered", ...ids, turn, recoveries });
      },
      fail: (error, { step, repeat } = { step: null, repeat: [] }) =>
        this.end({ status: "failed", error, step }, repeat),
      ended: (...run) => this.#ended(...run),
    };
    this.#loop = new RunLoop({ storage, stores, live, team, announcer: this.#announcer, host });
    this.#active = ActiveRun.load(stores);
    this.#recovering = this.#active !== undefined && hasWork(this.#active);
  }

  get active(): ActiveRun | undefined {
    return this.#active;
  }

  /** Whether a turn is being carried out: what is asked for then happens when it comes to a stop. */
  get busy(): boolean {
    return this.#drive !== undefined && this.#active?.record.status === "running";
  }

  /** Takes on a run whose row was just inserted. */
  start(active: ActiveRun): void {
    this.#active = active;
    this.#announcer.changed(active, this.clock());
    this.kick("new");
  }

  /** Drives the run if there is something to do and nobody does it. */
  kick(from: "new" | "rest" = "rest"): void {
    const active = this.#active;
    if (active === undefined || this.#drive !== undefined) return;
    if (!hasWork(active)) return;
    const drive = new Drive(active);
    this.#drive = drive;
    const recovering = this.#recovering;
    this.#recovering = false;
    drive.over = this.#loop
      .run(drive, recovering ? "crash" : from)
      .catch(() => undefined) // Not even the failure could be stored; the alarm comes back to it.
      .finally(() => {
        if (this.#drive === drive) this.#drive = undefined;
      });
  }

  /** The alarm: re-arms first, so that whatever goes wrong below, it rings again. */
  tick(): void {
    const active = this.#active;
    if (active === undefined) return;
    const now = Date.now();
    this.#announcer.arm(active, this.clock());
    const left = timeLeft(active, this.clock().ran);
    if (active.record.status === "running" && left !== null && left <= 0) {
      const { timeout_seconds } = active.record;
      this.end({
        status: "failed",
        error: new TroupeError(
          "run_timeout",
          `the run took longer than ${timeout_seconds} seconds`,
        ),
      });
      return;
    }
    for (const { question, expiresAt } of this.#stores.questions.open(active.record.id)) {
      if (expiresAt !== null && expiresAt <= now) {
        this.#stores.questions.answer(question.id, defaultAnswer(question), now);
        this.answered();
      }
    }
    if (active.record.wake_at !== null && active.record.wake_at <= now) this.#goOn(active);
    this.kick();
  }

  /** A question has its answer: a waiting run goes on. */
  answered(): void {
    const active = this.#active;
    if (active === undefined) return;
    this.#drive?.noteAnswer();
    if (active.record.status === "waiting") this.#goOn(active);
    else this.#announcer.run(active);
    this.kick();
  }

  /** Ends a pause, or takes back the request for one. */
  resume(active: ActiveRun): void {
    const { record } = active;
    record.pause_requested = false;
    if (record.status !== "paused") {
      this.#stores.runs.update(active.stored);
      return;
    }
    record.status = "running";
    record.resuming = true;
    if (record.wake_at !== null) record.rest_since = Date.now();
    this.#announcer.changed(active, this.clock());
    this.kick();
  }

  /** Asks for a pause; it begins when the steps under way are done. */
  pause(active: ActiveRun): void {
    active.record.pause_requested = true;
    this.#stores.runs.update(active.stored);
    this.#drive?.interrupt();
    this.kick();
  }

  /**
   * Ends the run now. The turn in progress is given up and its messages taken back; a drive under way is superseded.
   *
   * @param repeat recorded steps that a retry has to do anew
   */
  end(outcome: Outcome, repeat: readonly string[] = []): void {
    const active = this.#active;
    if (active === undefined) return;
    try {
      const { retract, terminal } = this.#stores.transaction(() => {
        active.record.ran = this.clock().ran;
        for (const key of repeat) this.#stores.steps.remove(key);
        const taken = active.events.retractAll();
        const last = writeOutcome(this.#stores, active, outcome, active);
        return { retract: taken, terminal: last };
      });
      this.#leave();
      this.#announcer.ended(active, retract, terminal);
      if (outcome.status === "failed") {
        this.#log(failureEntry(this.#stores, active, outcome.error), outcome.error);
      }
    } catch (error) {
      // It could not be stored, so it did not happen; what is in memory says it did.
      this.#leave();
      this.#active = ActiveRun.load(this.#stores);
      this.#recovering = true;
      throw error;
    } finally {
      this.#team.drop();
    }
  }

  /**
   * Notes that the run is to complete after its turn. One that is in none does so at once; then the promise resolves
   * when it has.
   */
  stop(active: ActiveRun): Promise<void> | undefined {
    this.#stores.runs.update(active.stored);
    if (!active.resting) return undefined;
    this.kick();
    return this.#drive?.over;
  }

  /** Forgets everything: the team is deleted. */
  destroy(): void {
    this.#leave();
    this.#team.drop();
    this.#announcer.release();
  }

  /** Resolves when the present run is over, waits for a human or is paused, or after `ms`. */
  async untilRest(ms: number): Promise<void> {
    if (this.#active?.record.status === "running") await this.#announcer.untilRest(ms);
  }

  clock(): Moment {
    const at = Date.now();
    return { at, ran: this.#drive?.ran(at) ?? this.#active?.ran(at) ?? 0 };
  }

  /** Nothing runs from here on until somebody or the alarm says so. */
  #rest(active: ActiveRun, status: "waiting" | "paused" | "running"): void {
    const { at, ran } = this.clock();
    active.record.ran = ran;
    active.record.rest_since = status === "running" ? at : null;
    active.record.status = status;
    this.#drive = undefined;
    this.#live.endTexts("forget");
    this.#announcer.changed(active, this.clock());
  }

  #goOn(active: ActiveRun): void {
    active.record.ran = this.clock().ran;
    active.record.rest_since = null;
    active.record.status = "running";
    active.record.wake_at = null;
    this.#announcer.changed(active, this.clock());
  }

  /** There is no active run any more; a drive under way is superseded. */
  #leave(): void {
    this.#drive?.supersede();
    this.#drive = undefined;
    this.#active = undefined;
  }

  /** The run ended with a commit; nothing is under way that would have to be told. */
  #ended(
    active: ActiveRun,
    outcome: Outcome | undefined,
    retract: RecordedEvent | undefined,
    terminal: RecordedEvent,
  ): void {
    this.#drive = undefined;
    this.#active = undefined;
    this.#announcer.ended(active, retract, terminal);
    if (outcome?.status === "failed") {
      this.#log(failureEntry(this.#stores, active, outcome.error), outcome.error);
    }
  }
}

/** Whether the run has something to do now: a turn, or a pause or a stop that was asked for. */
function hasWork({ resting, record }: ActiveRun): boolean {
  const toPause = record.pause_requested && record.status !== "paused";
  return !resting || toPause || record.stop_requested !== null;
}
