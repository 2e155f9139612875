import type { Log } from "../../core/log.ts";
import type { StoredQuestion } from "../storage/runs/question-store.ts";
import type { TeamAlarm } from "../storage/team-alarm.ts";
import type { ActiveRun } from "./active-run.ts";
import {
  finishTurn,
  openTeam,
  runTurn,
  type TurnOf,
  type TurnParts,
  type TurnsOfRun,
} from "./durable-turn.ts";
import type { Execution } from "./execution.ts";
import type { RunConstants } from "./journal/journaled-run.ts";
import { runConstants } from "./journal/turn-facts.ts";
import type { Idle, NextAction, TurnState } from "./next-action.ts";
import {
  countRecovery,
  isSuspected,
  type RecoveryLimit,
  recoveryEntry,
} from "./recovery-budget.ts";
import { resumeDone, resumeDue } from "./run-state.ts";
import { Suspect } from "./suspect.ts";

/** Actions in a row without yielding: storage commits, requests and clients need the event loop. */
const ACTIONS_AT_A_STRETCH = 16;

/** The loop's view of its run: its next action, and the changes of its status. Each change is synchronous. */
export interface LoopOfRun extends TurnsOfRun {
  /** The next action of the run. @param turn known to the loop while it runs */
  next(active: ActiveRun, turn: TurnState): NextAction;
  /** Nothing runs from here on until a client or the alarm wakes the run. */
  suspend(active: ActiveRun, idle: Idle): void;
  /** A waiting run continues. */
  continue(active: ActiveRun): void;
  answerByDefault(active: ActiveRun, questions: readonly StoredQuestion[]): void;
  /** The execution has nothing more to do. */
  leave(execution: Execution): void;
}

export interface LoopParts extends TurnParts {
  storage: DurableObjectStorage;
  alarm: TeamAlarm;
  log: Log;
  run: LoopOfRun;
}

/**
 * The loop of one execution: carries out what the run needs next, one action after the other, until the run is idle or ends. Most
 * actions are turns, each with its commit.
 */
export class RunLoop implements TurnOf {
  readonly active: ActiveRun;
  readonly execution: Execution;
  readonly facts: RunConstants;
  suspect: Suspect | undefined;
  readonly #parts: LoopParts;

  constructor(parts: LoopParts, active: ActiveRun, execution: Execution) {
    this.#parts = parts;
    this.active = active;
    this.execution = execution;
    this.facts = runConstants(active.record, parts.stores, parts.tenant);
  }

  /** Returns when the run is idle or has ended, or the execution is superseded. */
  async run(): Promise<void> {
    const { active, execution } = this;
    try {
      if (execution.origin === "recovery") {
        const limit = this.#countRecovery();
        if (limit !== undefined) {
          this.#parts.run.end({ status: "failed", ...limit });
          return;
        }
        await this.suspect?.enter();
        if (execution.superseded) return;
      }
      // A turn that never returns or ends the process takes the writes of its synchronous go with it: the count, the
      // answer it continues with, the new status. A new run that is lost like that was never accepted.
      if (execution.origin !== "start") await this.#parts.storage.sync();
      let turn: TurnState = active.idle ? "suspended" : "interrupted";
      for (let actions = 1; !execution.superseded; actions++) {
        if (actions % ACTIONS_AT_A_STRETCH === 0) {
          await scheduler.wait(0);
          if (execution.superseded) return;
        }
        turn = await this.#act(turn);
      }
    } catch (error) {
      if (!execution.superseded) this.#parts.run.end({ status: "failed", error });
    } finally {
      this.suspect?.leave();
    }
  }

  #countRecovery(): RecoveryLimit | undefined {
    const { active } = this;
    const { alarm, stores, storage, log, telemetry } = this.#parts;
    const limit = countRecovery(stores, active);
    if (limit !== undefined) return limit;
    stores.runs.update(active.stored);
    if (isSuspected(active.record)) {
      const isOver = (): boolean => this.execution.superseded;
      this.suspect = new Suspect({ storage, stores, active, isOver });
    }
    alarm.set();
    log(recoveryEntry(stores, active));
    telemetry?.recovered();
    return undefined;
  }

  /** Takes the next action. Returns the state of the turn in progress after it. */
  async #act(turn: TurnState): Promise<TurnState> {
    const { active, execution } = this;
    const parts = this.#parts;
    const { run } = parts;
    const action = run.next(active, turn);
    switch (action.do) {
      case "wait":
        if (active.idle) run.leave(execution);
        else run.suspend(active, action);
        return turn;
      case "fail":
        run.end({ status: "failed", error: action.error });
        return turn;
      case "answer_by_default":
        run.answerByDefault(active, action.questions);
        return turn;
      case "pause":
        await this.#pause();
        return turn === "interrupted" ? "none" : turn;
      case "complete": {
        const team = await openTeam(parts, execution);
        if (team === undefined) return turn;
        team.runnable.stop();
        finishTurn(parts, this, team, {
          outcome: { status: "completed", stopReason: action.stopReason },
          next: active.turnOfRun,
          events: active.events,
          memory: undefined,
          nested: undefined,
          read: new Set(),
          unfinished: [],
        });
        return "none";
      }
      case "resume": {
        active.become(resumeDone(active.record));
        const team = await openTeam(parts, execution);
        await team?.runnable.onResume();
        return turn;
      }
      case "turn":
        if (action.wakes) run.continue(active);
        return runTurn(parts, this);
    }
  }

  async #pause(): Promise<void> {
    const { active, execution } = this;
    const team = await openTeam(this.#parts, execution);
    await team?.runnable.onPause();
    const { record } = active;
    if (execution.superseded || record.stop_requested !== null) return;
    if (record.pause_requested) {
      this.#parts.run.suspend(active, { status: "paused", wakeAt: record.wake_at });
    } else {
      // Taken back in the meantime.
      active.become(resumeDue(record));
    }
  }
}
