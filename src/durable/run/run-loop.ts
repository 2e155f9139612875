import { TroupeError } from "../../core/errors.ts";
import type { Message } from "../../core/messages/message.ts";
import { isTurnSignal, type TurnSignal } from "../../core/run/signals.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Announcer } from "./announcer.ts";
import { runTurn } from "./turn.ts";
import { commitTurn } from "./commit.ts";
import type { Drive } from "./drive.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import type { LiveFeed } from "../stream/live-feed.ts";
import type { LoadedTeam, TeamCache } from "./team-cache.ts";
import { countRecovery } from "./recovery-budget.ts";
import type { Outcome } from "./run-outcome.ts";
import type { Stores } from "../storage/stores.ts";
import type { TurnFailure } from "./turn-failures.ts";
import { TurnJournal } from "./turn-journal.ts";
import { outcomeOfTurn, overBudget, STOPPED } from "./turn-outcome.ts";

/** Turns in a row without giving way: storage commits, requests and clients need the event loop. */
const TURNS_AT_A_STRETCH = 16;

/** Who decides about the run that the loop's turns belong to. */
export interface LoopHost {
  /** False once the drive was superseded: then it must not do anything any more. */
  isCurrent(drive: Drive): boolean;
  clock(): Moment;
  /** Nothing runs from here on until somebody or the alarm says so. */
  rest(active: ActiveRun, status: "waiting" | "paused" | "running"): void;
  /** The run was interrupted and goes on; the count of that is written. */
  recovered(active: ActiveRun): void;
  fail(error: unknown, failure?: TurnFailure): void;
  /** The run ended with the commit of its last turn. */
  ended(
    active: ActiveRun,
    outcome: Outcome | undefined,
    retract: RecordedEvent | undefined,
    terminal: RecordedEvent,
  ): void;
}

export interface RunLoopOptions {
  storage: DurableObjectStorage;
  stores: Stores;
  live: LiveFeed;
  team: TeamCache;
  announcer: Announcer;
  host: LoopHost;
}

/** Runs the team turn by turn and commits in between. */
export class RunLoop {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #live: LiveFeed;
  readonly #team: TeamCache;
  readonly #announcer: Announcer;
  readonly #host: LoopHost;

  constructor({ storage, stores, live, team, announcer, host }: RunLoopOptions) {
    this.#storage = storage;
    this.#stores = stores;
    this.#live = live;
    this.#team = team;
    this.#announcer = announcer;
    this.#host = host;
  }

  /**
   * Runs turn after turn until the run rests or ends, or the drive is superseded.
   *
   * @param from `new`: the run has just begun; `rest`: it goes on after an answer, a pause or a wait; `crash`: it was
   *   found with work to do when the object was loaded
   */
  async run(drive: Drive, from: "new" | "rest" | "crash"): Promise<void> {
    const { active } = drive;
    const { resting } = active;
    const host = this.#host;
    try {
      if (from === "crash") {
        countRecovery(this.#stores, active);
        this.#announcer.arm(active, host.clock());
        host.recovered(active);
      }
      if (from !== "new") {
        // A turn that spins or ends the process takes with it what was written in the same go: the count of recoveries,
        // the answer it goes on with, that the run is running. A new run that was lost like that was never accepted.
        await this.#storage.sync();
        if (!host.isCurrent(drive)) return;
      }
      for (let passes = 0; host.isCurrent(drive); passes++) {
        if (passes % TURNS_AT_A_STRETCH === TURNS_AT_A_STRETCH - 1) {
          await scheduler.wait(0);
          if (!host.isCurrent(drive)) return;
        }
        const open = await this.#team.open();
        if (!host.isCurrent(drive)) return;
        // A turn that was interrupted comes to its end first.
        if (active.record.stop_requested !== null && (passes > 0 || resting)) {
          open.runnable.stop();
          this.#commit(active, open, STOPPED, active.next);
          return;
        }
        if (active.record.pause_requested) {
          await open.runnable.onPause();
          if (!host.isCurrent(drive)) return;
          if (active.record.stop_requested !== null) continue;
          if (active.record.pause_requested) {
            host.rest(active, "paused");
            return;
          }
          // Taken back in the meantime.
          active.record.resuming = true;
          if (active.resting) return;
        }
        if (active.record.resuming) {
          active.record.resuming = false;
          await open.runnable.onResume();
          if (!host.isCurrent(drive)) return;
        }
        const signal = await this.#turn(drive, open);
        if (!host.isCurrent(drive)) return;
        if (signal !== undefined && !this.#stopped(drive, signal)) return;
      }
    } catch (error) {
      if (!host.isCurrent(drive)) return;
      host.fail(error, drive.journal?.failure(error));
    }
  }

  /** Carries out one turn and commits it, or returns the signal that ended it early. */
  async #turn(drive: Drive, open: LoadedTeam): Promise<TurnSignal | undefined> {
    const { active } = drive;
    const { team, steps, questions, cache } = this.#stores;
    const host = this.#host;
    const journal = new TurnJournal({
      turnId: active.turnId,
      started: active.started,
      runId: active.record.id,
      session: team.session,
      steps,
      questions,
      cache: active.again ? cache.renewing() : cache,
      control: drive.control({
        isCurrent: () => host.isCurrent(drive),
        discard: (id) => this.#live.discard(id),
        asked: () => this.#announcer.runSoon(active),
        retractOutstanding: () => this.#announcer.events([active.events.retractOutstanding()]),
        refusal: () => overBudget(active),
        fail: (error) => host.fail(error),
      }),
    });
    drive.journal = journal;
    const end = await runTurn(this.#stores, active, open.runnable, journal, {
      emit: (message) => this.#emit(active, message),
      isCurrent: () => host.isCurrent(drive),
    });
    if (end === undefined || isTurnSignal(end)) return end;
    this.#commit(active, open, outcomeOfTurn(active, end), active.next + 1);
    return undefined;
  }

  #emit(active: ActiveRun, message: Message): void {
    if (message.type === "ModelClientStreamingChunkEvent") this.#live.chunk(message);
    else this.#live.message(message, active.events.emit(message));
  }

  #commit(active: ActiveRun, open: LoadedTeam, outcome: Outcome | undefined, next: number): void {
    const end = { outcome, next, time: this.#host.clock() };
    const { commit, retract, terminal } = commitTurn(this.#stores, active, open, end);
    if (terminal) {
      this.#host.ended(active, outcome, retract, terminal);
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
    this.#host.rest(active, waiting ? "waiting" : "running");
    return false;
  }
}
