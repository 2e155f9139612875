import { TroupeError } from "../../core/errors.ts";
import { isTurnSignal, type TurnSignal } from "../../core/run/signals.ts";
import type { Stores } from "../storage/stores.ts";
import type { RunTelemetry } from "../telemetry/run-telemetry.ts";
import type { ActiveRun } from "./active-run.ts";
import { commitTurn } from "./turn/commit.ts";
import type { Drive } from "./drive.ts";
import type { TurnState } from "./next-action.ts";
import { countRecovery } from "./recovery-budget.ts";
import type { RunFeed } from "./run-feed.ts";
import type { RunLifecycle } from "./run-lifecycle.ts";
import type { Outcome } from "./run-outcome.ts";
import type { LoadedTeam, TeamCache } from "./team-cache.ts";
import { runTurn } from "./turn/turn.ts";
import { TurnJournal } from "./turn/turn-journal.ts";
import { outcomeOfTurn } from "./turn/turn-outcome.ts";

/** Actions in a row without yielding: storage commits, requests and clients need the event loop. */
const ACTIONS_AT_A_STRETCH = 16;

export interface RunLoopOptions {
  storage: DurableObjectStorage;
  stores: Stores;
  team: TeamCache;
  feed: RunFeed;
  lifecycle: RunLifecycle;
  telemetry: RunTelemetry;
}

/** Carries out what the run needs next, one action after the other; most are turns, each with its commit. */
export class RunLoop {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #team: TeamCache;
  readonly #feed: RunFeed;
  readonly #lifecycle: RunLifecycle;
  readonly #telemetry: RunTelemetry;

  constructor({ storage, stores, team, feed, lifecycle, telemetry }: RunLoopOptions) {
    this.#storage = storage;
    this.#stores = stores;
    this.#team = team;
    this.#feed = feed;
    this.#lifecycle = lifecycle;
    this.#telemetry = telemetry;
  }

  /** Returns when the run rests or has ended, or the drive is superseded. */
  async run(drive: Drive): Promise<void> {
    try {
      if (drive.origin === "recovery") this.#countRecovery(drive.active);
      // A turn that never returns or ends the process takes the writes of its synchronous go with it: the count, the
      // answer it goes on with, the new status. A new run that is lost like that was never accepted.
      if (drive.origin !== "start") await this.#storage.sync();
      let turn: TurnState = drive.active.resting ? "suspended" : "interrupted";
      for (let actions = 1; !drive.superseded; actions++) {
        if (actions % ACTIONS_AT_A_STRETCH === 0) {
          await scheduler.wait(0);
          if (drive.superseded) return;
        }
        turn = await this.#act(drive, turn);
      }
    } catch (error) {
      if (!drive.superseded) this.#lifecycle.end({ status: "failed", error });
    }
  }

  #countRecovery(active: ActiveRun): void {
    countRecovery(this.#stores, active);
    this.#lifecycle.arm(active);
    this.#lifecycle.recovered(active);
  }

  /** Takes the next action. Returns the state of the turn in progress after it. */
  async #act(drive: Drive, turn: TurnState): Promise<TurnState> {
    const { active } = drive;
    const lifecycle = this.#lifecycle;
    const action = lifecycle.next(active, turn);
    switch (action.do) {
      case "wait":
        if (active.resting) lifecycle.closeDrive(drive);
        else lifecycle.rest(active, action);
        return turn;
      case "fail":
        lifecycle.end({ status: "failed", error: action.error });
        return turn;
      case "answer_by_default":
        lifecycle.answerByDefault(active, action.questions);
        return turn;
      case "pause":
        await this.#pause(drive);
        return turn === "interrupted" ? "none" : turn;
      case "complete": {
        const team = await this.#open(drive);
        if (team === undefined) return turn;
        team.runnable.stop();
        const outcome = { status: "completed", stopReason: action.stopReason } as const;
        this.#commit(active, team, outcome, active.turnOfRun);
        return "none";
      }
      case "resume": {
        active.record.resuming = false;
        const team = await this.#open(drive);
        await team?.runnable.onResume();
        return turn;
      }
      case "turn":
        if (active.resting) lifecycle.wake(active);
        return this.#turn(drive);
    }
  }

  async #pause(drive: Drive): Promise<void> {
    const { active } = drive;
    const { record } = active;
    const team = await this.#open(drive);
    await team?.runnable.onPause();
    if (drive.superseded || record.stop_requested !== null) return;
    if (record.pause_requested) {
      this.#lifecycle.rest(active, { status: "paused", wakeAt: record.wake_at });
    } else {
      // Taken back in the meantime.
      record.resuming = true;
    }
  }

  /** Runs one turn and commits it, unless it ends early. */
  async #turn(drive: Drive): Promise<TurnState> {
    const { active } = drive;
    const team = await this.#open(drive);
    if (team === undefined) return "interrupted";
    drive.answered = false;
    const { steps, questions, cache } = this.#stores;
    const journal = new TurnJournal({
      drive,
      steps,
      questions,
      cache: active.repeatsFailedTurn ? cache.renewing() : cache,
      session: this.#stores.team.session,
      feed: this.#feed,
      lifecycle: this.#lifecycle,
      telemetry: this.#telemetry,
    });
    try {
      const end = await runTurn(drive, team.runnable, journal, this.#feed);
      if (end === undefined) return "interrupted";
      if (isTurnSignal(end)) return this.#endedEarly(drive, end);
      this.#commit(active, team, outcomeOfTurn(active, end), active.turnOfRun + 1);
      return "none";
    } catch (error) {
      if (!drive.superseded) {
        const { step, repeat } = journal.failure(error);
        this.#lifecycle.end({ status: "failed", error, step }, repeat);
      }
      return "interrupted";
    }
  }

  #endedEarly({ active, superseded }: Drive, signal: TurnSignal): TurnState {
    if (superseded) return "interrupted";
    // Agents may keep in memory what no state describes: the next turn gets a new team at the last commit.
    this.#team.drop();
    active.restartEvents();
    switch (signal.kind) {
      case "suspend":
        return "suspended";
      case "pause":
        return "none";
      case "cancel":
      case "halt":
      case "superseded":
        throw new TroupeError("internal", `a turn ended with the signal "${signal.kind}"`, {
          cause: signal,
        });
    }
  }

  #commit(active: ActiveRun, team: LoadedTeam, outcome: Outcome | undefined, next: number): void {
    const end = { outcome, next, time: this.#lifecycle.clock() };
    const { commit, retract, terminal } = commitTurn(this.#stores, active, team, end);
    this.#telemetry.committed(active, commit);
    active.advance(commit);
    this.#team.committed(team);
    this.#feed.visibleState(this.#team.visibleState);
    if (outcome && terminal) {
      this.#lifecycle.ended(active, outcome, retract, terminal);
      return;
    }
    this.#feed.turnOver();
    this.#feed.retracted(retract);
  }

  /** The team at its last commit; undefined when the drive was superseded in the meantime. */
  async #open(drive: Drive): Promise<LoadedTeam | undefined> {
    const team = await this.#team.open();
    return drive.superseded ? undefined : team;
  }
}
