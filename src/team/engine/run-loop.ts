import type { CostOf } from "../../contract/usage/model-usage.ts";
import { TroupeError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { announceEnd } from "../../core/run/run-observer.ts";
import type { Progress } from "../../core/run/runnable.ts";
import { isTurnSignal } from "../../core/steps/signals.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import { TurnScope } from "../../core/turn/turn-scope.ts";
import type { TeamAlarm } from "../storage/team-alarm.ts";
import type { Stores } from "../storage/stores.ts";
import type { RunTelemetry } from "./run-telemetry.ts";
import type { ActiveRun } from "./active-run.ts";
import { commitTurn } from "./turn/turn-commit.ts";
import { type TurnState, usageLimitError } from "./next-action.ts";
import { countRecovery, recoveryEntry } from "./recovery-budget.ts";
import type { RunFeed } from "./run-feed.ts";
import { frameOfTurn } from "./turn-report.ts";
import type { RunEngine } from "./run-engine.ts";
import type { Outcome } from "./run-outcome.ts";
import type { LoadedTeam, TeamCache } from "./team-cache.ts";
import type { ServerLogins } from "../../core/steps/server-logins.ts";
import type { OtherMemories } from "./turn/turn-memory.ts";
import { TurnJournal } from "./turn/turn-journal.ts";

/** Actions in a row without yielding: storage commits, requests and clients need the event loop. */
const ACTIONS_AT_A_STRETCH = 16;

export interface RunLoopParts {
  engine: RunEngine;
  storage: DurableObjectStorage;
  alarm: TeamAlarm;
  stores: Stores;
  team: TeamCache;
  feed: RunFeed;
  log: Log;
  /** Undefined for a deployment without telemetry. */
  telemetry: RunTelemetry | undefined;
  costOf: CostOf;
  /** Bindings of the Worker, for agents and tools. */
  env: object;
  /** The memories of users and of the tenant; undefined without the binding MEMORY. */
  memories: OtherMemories | undefined;
  /** The tenant's logins at other servers, for a run; undefined without the binding TENANT. */
  logins: ((run: string) => ServerLogins) | undefined;
}

/**
 * `start`: of a new run; `idle`: after an answer, a pause, a wait or a time in the queue; `recovery`: the run needed something when the object
 * was loaded, so the stretch before was interrupted.
 */
export type StretchOrigin = "start" | "idle" | "recovery";

/**
 * One stretch of running: from a start, an answer or a recovery to the time that the run is idle or ends. Carries out what the
 * run needs next, one action after the other; most are turns, each with its commit. It is the fence for everything that runs
 * in it: turn and journal write nothing once it is superseded.
 */
export class RunLoop {
  readonly active: ActiveRun;
  readonly origin: StretchOrigin;
  /** Resolves when {@link run} has returned. */
  done: Promise<void> = Promise.resolve();
  /** Whether a question was answered since the turn in progress began. */
  answered = false;
  readonly #parts: RunLoopParts;
  #superseded = false;
  readonly #abort = new AbortController();
  readonly #sleepers = new Set<() => void>();
  readonly #startedAt = Date.now();
  readonly #ranBefore: number;

  constructor(parts: RunLoopParts, active: ActiveRun, origin: StretchOrigin) {
    this.#parts = parts;
    this.active = active;
    this.origin = origin;
    this.#ranBefore = active.ran(this.#startedAt);
  }

  /** True once the run is idle, has ended, or belongs to another loop. */
  get superseded(): boolean {
    return this.#superseded;
  }

  /** Aborts when effects under way have to stop. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  clock(): Moment {
    const at = Date.now();
    return { at, ran: this.#ranBefore + Math.max(0, at - this.#startedAt) };
  }

  /** Ends the loop after its last turn: nothing is under way. */
  end(): void {
    this.#superseded = true;
  }

  /** Ends the loop in the middle of a turn: effects under way are aborted. */
  cancel(): void {
    this.#superseded = true;
    this.#abort.abort();
    this.interrupt();
  }

  /** Waits in memory; a pause or a cancellation ends the wait early. */
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

  /** Returns when the run is idle or has ended, or the loop is superseded. */
  async run(): Promise<void> {
    const { active } = this;
    try {
      if (this.origin === "recovery") this.#countRecovery();
      // A turn that never returns or ends the process takes the writes of its synchronous go with it: the count, the
      // answer it continues with, the new status. A new run that is lost like that was never accepted.
      if (this.origin !== "start") await this.#parts.storage.sync();
      let turn: TurnState = active.idle ? "suspended" : "interrupted";
      for (let actions = 1; !this.#superseded; actions++) {
        if (actions % ACTIONS_AT_A_STRETCH === 0) {
          await scheduler.wait(0);
          if (this.#superseded) return;
        }
        turn = await this.#act(turn);
      }
    } catch (error) {
      if (!this.#superseded) this.#parts.engine.end({ status: "failed", error });
    }
  }

  #countRecovery(): void {
    const { alarm, stores, log, telemetry } = this.#parts;
    countRecovery(stores, this.active);
    alarm.set();
    log(recoveryEntry(stores, this.active));
    telemetry?.recovered();
  }

  /** Takes the next action. Returns the state of the turn in progress after it. */
  async #act(turn: TurnState): Promise<TurnState> {
    const { active } = this;
    const { engine } = this.#parts;
    const action = engine.next(active, turn);
    switch (action.do) {
      case "wait":
        if (active.idle) engine.leaveLoop(this);
        else engine.suspend(active, action);
        return turn;
      case "fail":
        engine.end({ status: "failed", error: action.error });
        return turn;
      case "answer_by_default":
        engine.answerByDefault(active, action.questions);
        return turn;
      case "pause":
        await this.#pause();
        return turn === "interrupted" ? "none" : turn;
      case "complete": {
        const team = await this.#open();
        if (team === undefined) return turn;
        team.runnable.stop();
        this.#commit(
          team,
          { status: "completed", stopReason: action.stopReason },
          active.turnOfRun,
        );
        return "none";
      }
      case "resume": {
        active.record.resuming = false;
        const team = await this.#open();
        await team?.runnable.onResume();
        return turn;
      }
      case "turn":
        if (active.idle) engine.continue(active);
        return this.#turn();
    }
  }

  async #pause(): Promise<void> {
    const { record } = this.active;
    const team = await this.#open();
    await team?.runnable.onPause();
    if (this.#superseded || record.stop_requested !== null) return;
    if (record.pause_requested) {
      this.#parts.engine.suspend(this.active, { status: "paused", wakeAt: record.wake_at });
    } else {
      // Taken back in the meantime.
      record.resuming = true;
    }
  }

  /** Runs one turn and commits it, unless it ends early. */
  async #turn(): Promise<TurnState> {
    const { active } = this;
    const { engine } = this.#parts;
    const team = await this.#open();
    if (team === undefined) return "interrupted";
    this.answered = false;
    const journal = new TurnJournal({ loop: this, ...this.#parts });
    try {
      const progress = await this.#progress(team, journal);
      if (progress === undefined) return "interrupted";
      this.#commit(team, outcomeOfTurn(active, progress), active.turnOfRun + 1, journal);
      return "none";
    } catch (thrown) {
      if (this.#superseded) return "interrupted";
      let error: unknown = thrown;
      if (isTurnSignal(thrown)) {
        // Agents may keep in memory what no state describes: the next turn gets a new team at the last commit.
        this.#parts.team.drop();
        active.restartEvents();
        if (thrown.kind === "suspend") return "suspended";
        if (thrown.kind === "pause") return "none";
        error = new TroupeError("internal", `a turn ended with the signal "${thrown.kind}"`, {
          cause: thrown,
        });
      }
      const { step, attempts, repeat } = journal.failure(error);
      engine.end({ status: "failed", error, step, attempts }, repeat);
      return "interrupted";
    }
  }

  /**
   * Runs the turn in progress from its beginning; steps that are recorded return without running. Messages are written to
   * the log before clients get them. Returns the run's progress, or undefined when the loop was superseded.
   *
   * @throws TurnSignal when the turn ends early
   */
  async #progress(
    { runnable, observers, shared }: LoadedTeam,
    journal: TurnJournal,
  ): Promise<Progress | undefined> {
    const { active } = this;
    const { feed } = this.#parts;
    const ctx = TurnScope.root(journal);
    shared?.beginTurn(active.turnOfRun === 0 ? active.record.state : undefined);
    if (active.turnOfRun === 0) for (const observer of observers.values()) observer.runBegins();
    const turn =
      active.turnOfRun === 0
        ? runnable.begin({ messages: active.task, outputTaskMessages: true }, ctx)
        : runnable.turn(ctx);
    for (;;) {
      const next = await turn.next();
      if (this.#superseded) {
        // Lets agents and tools release what they hold; not awaited, because they may take any time.
        void turn.return({ done: true, stopReason: null }).catch(() => undefined);
        return undefined;
      }
      if (next.done) {
        if (next.value.done) await announceEnd(observers, ctx);
        return this.#superseded ? undefined : next.value;
      }
      const message = next.value;
      if (message.type === "ModelClientStreamingChunkEvent") {
        feed.chunk(message);
        continue;
      }
      const event = active.events.emit(message, feed.endText(message));
      // One that was recorded before a restart was sent then.
      if (event !== undefined) feed.recorded(event);
    }
  }

  #commit(
    team: LoadedTeam,
    outcome: Outcome | undefined,
    next: number,
    { usedMemory: memory, nested }: Partial<Pick<TurnJournal, "usedMemory" | "nested">> = {},
  ): void {
    const { active } = this;
    const { engine, feed, stores, team: cache, telemetry, costOf } = this.#parts;
    const end = { outcome, next, time: this.clock(), memory, nested: nested?.entries };
    const { messageIds } = active.events;
    const { commit, retract, terminal } = commitTurn(stores, active, team, end);
    telemetry?.committed(active, commit);
    if (memory?.hasMail) this.#parts.memories?.written();
    cache.committed(team);
    const { visibleState } = cache;
    feed.turn(() => frameOfTurn(active, commit, messageIds, visibleState, costOf));
    active.advance(commit);
    feed.visibleState(visibleState);
    if (outcome && terminal) {
      engine.ended(active, { outcome, retract, terminal });
      return;
    }
    feed.turnOver();
    feed.retracted(retract);
  }

  /** The team at its last commit; undefined when the loop was superseded in the meantime. */
  async #open(): Promise<LoadedTeam | undefined> {
    const team = await this.#parts.team.open();
    return this.#superseded ? undefined : team;
  }
}

/** The run's outcome after a completed turn; undefined when the run continues. */
function outcomeOfTurn(active: ActiveRun, progress: Progress): Outcome | undefined {
  const error = usageLimitError(active);
  if (error) return { status: "failed", error };
  return progress.done ? { status: "completed", stopReason: progress.stopReason } : undefined;
}
