import { TroupeError } from "../core/errors.ts";
import type { Message } from "../core/messages/message.ts";
import { isTurnSignal, type TurnSignal } from "../core/run/signals.ts";
import type { Moment } from "../core/run/turn-host.ts";
import { ActiveRun } from "./active-run.ts";
import { timeLeft } from "./alarm-time.ts";
import { Announcer } from "./announcer.ts";
import { Drive } from "./drive.ts";
import type { Live } from "./live.ts";
import type { OpenTeam, TeamCache } from "./open-team.ts";
import { defaultAnswer } from "./question-store.ts";
import { carryOut } from "./carry-out.ts";
import { commitTurn } from "./commit.ts";
import { countRecovery } from "./recovery.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import type { Stores } from "./stores.ts";
import { TurnJournal } from "./turn-journal.ts";
import { outcomeOfTurn, overBudget, STOPPED } from "./turn-outcome.ts";

/** Turns in a row without giving way: storage commits, requests and clients need the event loop. */
const TURNS_AT_A_STRETCH = 16;

export interface DriverOptions {
  storage: DurableObjectStorage;
  stores: Stores;
  live: Live;
  team: TeamCache;
}

/**
 * Runs the team turn by turn and commits in between. What changes a run's status is synchronous and writes
 * everything in one go, so a crash finds it either done or not begun. At most one drive is under way; one that was
 * superseded writes nothing any more.
 */
export class Driver {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #live: Live;
  readonly #team: TeamCache;
  readonly #announcer: Announcer;
  #active: ActiveRun | undefined;
  #drive: Drive | undefined;
  /** Whether the run was found running when the object was loaded. */
  #recovering: boolean;

  constructor({ storage, stores, live, team }: DriverOptions) {
    this.#storage = storage;
    this.#stores = stores;
    this.#live = live;
    this.#team = team;
    this.#announcer = new Announcer(storage, stores, live);
    this.#active = ActiveRun.load(stores);
    this.#recovering = this.#active !== undefined && !this.#active.resting;
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
    this.kick();
  }

  /** Drives the run if there is something to do and nobody does it. */
  kick(): void {
    const active = this.#active;
    if (active === undefined || this.#drive !== undefined) return;
    const { status, pause_requested, stop_requested } = active.record;
    const toPause = pause_requested && status !== "paused";
    if (active.resting && !toPause && stop_requested === null) return;
    const drive = new Drive(active);
    this.#drive = drive;
    drive.over = this.#run(drive)
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

  async #run(drive: Drive): Promise<void> {
    const { active } = drive;
    const { resting } = active;
    try {
      if (this.#recovering) {
        this.#recovering = false;
        countRecovery(this.#stores, active);
        this.#announcer.arm(active, this.clock());
        // Without this the count would be lost with whatever comes next.
        await this.#storage.sync();
      }
      for (let passes = 0; this.#isCurrent(drive); passes++) {
        if (passes % TURNS_AT_A_STRETCH === TURNS_AT_A_STRETCH - 1) {
          await scheduler.wait(0);
          if (!this.#isCurrent(drive)) return;
        }
        const open = await this.#team.open();
        if (!this.#isCurrent(drive)) return;
        // A turn that was interrupted comes to its end first.
        if (active.record.stop_requested !== null && (passes > 0 || resting)) {
          open.runnable.stop();
          this.#commit(active, open, STOPPED, active.next);
          return;
        }
        if (active.record.pause_requested) {
          await open.runnable.onPause();
          if (!this.#isCurrent(drive)) return;
          if (active.record.stop_requested !== null) continue;
          if (active.record.pause_requested) {
            this.#rest(active, "paused");
            return;
          }
          // Taken back in the meantime.
          active.record.resuming = true;
          if (active.resting) return;
        }
        if (active.record.resuming) {
          active.record.resuming = false;
          await open.runnable.onResume();
          if (!this.#isCurrent(drive)) return;
        }
        const signal = await this.#turn(drive, open);
        if (!this.#isCurrent(drive)) return;
        if (signal !== undefined && !this.#stopped(drive, signal)) return;
      }
    } catch (error) {
      if (!this.#isCurrent(drive)) return;
      this.end({ status: "failed", error }, drive.journal?.stepsToRepeat(error));
    }
  }

  /** Carries out one turn and commits it, or returns the signal that ended it early. */
  async #turn(drive: Drive, open: OpenTeam): Promise<TurnSignal | undefined> {
    const { active } = drive;
    const { steps, questions, cache } = this.#stores;
    const journal = new TurnJournal({
      turnId: active.turnId,
      started: active.started,
      runId: active.record.id,
      steps,
      questions,
      cache: active.again ? cache.renewing() : cache,
      control: drive.control({
        isCurrent: () => this.#isCurrent(drive),
        discard: (id) => this.#live.discard(id),
        retractOutstanding: () => this.#announcer.events([active.events.retractOutstanding()]),
        refusal: () => overBudget(active),
        fail: (error) => this.end({ status: "failed", error }),
      }),
    });
    drive.journal = journal;
    const end = await carryOut(this.#stores, active, open.runnable, journal, {
      emit: (message) => this.#emit(active, message),
      isCurrent: () => this.#isCurrent(drive),
    });
    if (end === undefined || isTurnSignal(end)) return end;
    this.#commit(active, open, outcomeOfTurn(active, end), active.next + 1);
    return undefined;
  }

  #emit(active: ActiveRun, message: Message): void {
    if (message.type === "ModelClientStreamingChunkEvent") this.#live.chunk(message);
    else this.#live.message(message, active.events.emit(message));
  }

  #commit(active: ActiveRun, open: OpenTeam, outcome: Outcome | undefined, next: number): void {
    const end = { outcome, next, time: this.clock() };
    const { commit, retract, terminal } = commitTurn(this.#stores, active, open, end);
    if (terminal) {
      // Nothing is under way that would have to be told.
      this.#drive = undefined;
      this.#active = undefined;
      this.#announcer.ended(active, retract, terminal);
      return;
    }
    active.advance(commit);
    this.#live.endTexts("forget");
    this.#announcer.events([retract]);
  }

  /** The turn ended early. Whether the drive goes on at once. */
  #stopped(drive: Drive, signal: TurnSignal): boolean {
    const { active } = drive;
    const { record } = active;
    // What was not committed is not to be trusted: agents may keep things nobody knows of.
    this.#team.drop();
    active.restartEvents();
    if (signal.kind !== "suspend" && signal.kind !== "pause") {
      throw new TroupeError("internal", `a turn ended with the signal "${signal.kind}"`, {
        cause: signal,
      });
    }
    const asked = record.stop_requested !== null || record.pause_requested;
    if (asked || signal.kind === "pause" || drive.takeAnswers()) return true;
    record.wake_at = this.#stores.steps.wakeAt;
    if (record.wake_at !== null && record.wake_at <= Date.now()) {
      record.wake_at = null;
      return true;
    }
    const waiting = this.#stores.questions.open(record.id).length > 0;
    if (!waiting && record.wake_at === null) {
      throw new TroupeError("internal", "a turn was suspended and waits for nothing");
    }
    this.#rest(active, waiting ? "waiting" : "running");
    return false;
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

  #isCurrent(drive: Drive): boolean {
    return this.#drive === drive;
  }
}
