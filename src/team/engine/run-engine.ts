import type { Moment } from "../../core/turn/turn-host.ts";
import type { StoredQuestion } from "../storage/runs/question-store.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";
import type { AlarmSource } from "../storage/team-alarm.ts";
import { ActiveRun } from "./active-run.ts";
import {
  alarmTime,
  type Idle,
  type NextAction,
  nextAction,
  type TurnState,
} from "./next-action.ts";
import type { EnteringRun, StartingRun } from "./new-run.ts";
import { QueuedRuns } from "./queued-runs.ts";
import { RunFeed } from "./views/run-feed.ts";
import { Execution } from "./execution.ts";
import type { ExecutionOrigin } from "./journal/fence.ts";
import { type LoopOfRun, type LoopParts, RunLoop } from "./run-loop.ts";
import { pauseRequested, stopRequested } from "./run-state.ts";
import { failureEntry, giveUp, type Outcome, type RunEnd } from "./run-outcome.ts";

/**
 * The active run: what requests and the alarm do to it, and all changes of its status. Each change is synchronous and writes
 * everything in one go, so a crash finds it either done or not started. One execution at most runs it. When it ends, the next starts.
 */
export class RunEngine implements AlarmSource, LoopOfRun {
  readonly queued: QueuedRuns;
  readonly #parts: LoopParts;
  readonly #stores: Stores;
  readonly feed: RunFeed;
  #active: ActiveRun | undefined;
  #execution: Execution | undefined;
  /** True if the next execution is a recovery. */
  #recovering = false;

  constructor(options: Omit<LoopParts, "run" | "feed">) {
    const { alarm, stores, live, costOf, telemetry } = options;
    this.feed = new RunFeed(live);
    this.#parts = { ...options, run: this, feed: this.feed };
    this.#stores = stores;
    this.queued = new QueuedRuns(stores, this.feed, telemetry);
    alarm.serve(this);
    const active = ActiveRun.load(stores, costOf);
    this.#active = active;
    if (active === undefined) return;
    // Unless it only waits, for an answer until its deadline or for the end of a backoff.
    const { do: needed } = this.next(active);
    this.#recovering = !active.idle || needed === "pause" || needed === "complete";
  }

  get active(): ActiveRun | undefined {
    return this.#active;
  }

  /** The run that no other may start beside: the active one, or the one that starts next. */
  get occupant(): RunRecord | undefined {
    return this.#active?.record ?? this.#stores.queue.first;
  }

  /** When the active run needs the alarm. */
  get dueAt(): number | null {
    const record = this.#active?.record;
    return record ? alarmTime(record, this.#stores.questions.open(record.id), this.#clock()) : null;
  }

  /** The next action of the run. @param turn known to the loop of an execution */
  next(active: ActiveRun, turn?: TurnState): NextAction {
    const state = this.#execution ? "running" : active.idle ? "suspended" : "interrupted";
    return nextAction(active.record, {
      turn: turn ?? state,
      answered: this.#execution?.answered ?? false,
      openQuestions: this.#stores.questions.open(active.record.id),
      backoffs: this.#stores.steps,
      now: this.#clock(),
    });
  }

  /** Starts a run that was just inserted, or makes known that it waits. */
  enter(run: EnteringRun): void {
    if (run.do === "start") {
      this.#execute(this.#begin(run), "start");
    } else if (run.do === "queue") {
      this.queued.added(run.record, run.task);
      // The run before it may have ended since the decision.
      if (this.#active === undefined) this.advance();
    }
  }

  /** Runs the active run, unless it runs or has to wait. Without an active run it starts the next one. */
  advance(): void {
    const active = this.#active;
    if (active === undefined) this.#startNext();
    else this.#act(active, this.next(active));
  }

  /** The alarm fired. It is set again first, so that it fires again whatever fails below. */
  onAlarm(): void {
    const active = this.#active;
    if (active === undefined) return;
    this.#parts.alarm.set();
    const action = this.next(active);
    // A time limit also ends a turn that the execution is waiting for.
    if (action.do === "fail") this.end({ status: "failed", error: action.error });
    else this.#act(active, action);
  }

  #act(active: ActiveRun, first: NextAction): void {
    let action = first;
    while (action.do === "answer_by_default") {
      this.answerByDefault(active, action.questions);
      action = this.next(active);
    }
    if (action.do === "wait" || this.#execution !== undefined) return;
    // Before the execution makes it durable, so that a turn that ends the process counts as interrupted.
    if ((action.do === "turn" || action.do === "resume") && action.wakes) this.continue(active);
    this.#execute(active, "idle");
  }

  #execute(active: ActiveRun, origin: ExecutionOrigin): void {
    const now = Date.now();
    const how = this.#recovering ? "recovery" : origin;
    const execution = new Execution(how, now, active.ran(now));
    this.#recovering = false;
    this.#execution = execution;
    execution.done = new RunLoop(this.#parts, active, execution)
      .run()
      .catch(() => undefined) // Not even the failure could be stored; the alarm tries again.
      .finally(() => this.leave(execution));
  }

  leave(execution: Execution): void {
    execution.end();
    if (this.#execution === execution) this.#execution = undefined;
  }

  answered(): void {
    if (this.#active === undefined) return;
    this.#answered(this.#active);
    this.advance();
  }

  /** An approval is there, and others are missing. */
  approvalCounted(): void {
    if (this.#active) this.feed.run(this.#active);
  }

  answerByDefault(active: ActiveRun, questions: readonly StoredQuestion[]): void {
    for (const question of questions) {
      this.#stores.questions.answerByDefault(question);
      this.#answered(active);
    }
  }

  #answered(active: ActiveRun): void {
    if (this.#execution) this.#execution.answered = true;
    if (active.record.status === "waiting") this.continue(active);
    else this.feed.run(active);
  }

  /** Requests a pause; it begins when the steps under way are done. */
  pause(active: ActiveRun): void {
    active.store(pauseRequested(active.record));
    // Clients see at once that the run is about to pause: the steps under way may take long.
    this.feed.run(active);
    this.#execution?.interrupt();
    this.advance();
  }

  /** Ends a pause, or takes back the request for one. */
  resume(active: ActiveRun): void {
    if (active.resume()) this.#statusChanged(active);
    else this.feed.run(active);
    this.advance();
  }

  suspend(active: ActiveRun, idle: Idle): void {
    active.suspend(idle, this.#clock());
    this.#execution?.end();
    this.#execution = undefined;
    // The texts of the turn will come again.
    this.#parts.live.endTexts("forget");
    this.#statusChanged(active);
    this.#parts.telemetry?.suspended();
  }

  continue(active: ActiveRun): void {
    active.continue(this.#clock());
    this.#statusChanged(active);
  }

  /** Stores that the run is to complete after its turn. An idle run completes at once; resolves when it has. */
  stop(active: ActiveRun): Promise<void> | undefined {
    active.store(stopRequested(active.record, "after_turn"));
    if (active.idle) {
      this.advance();
      return this.#execution?.done;
    }
    this.feed.run(active);
    return undefined;
  }

  /** Cancels the active run at the request of a client. */
  cancel(active: ActiveRun): void {
    active.become(stopRequested(active.record, "now"));
    this.end({ status: "cancelled" });
  }

  /** Ends the active run now: gives up its turn and retracts its messages. @param repeat recorded steps that a retry runs again */
  end(outcome: Outcome, repeat: readonly string[] = []): void {
    this.#giveUp(outcome, repeat);
    this.#startNext();
  }

  /** Cancels the active run in favour of one that the caller starts in the same go, before the queued ones. */
  preempt(): void {
    this.#giveUp({ status: "cancelled" }, []);
  }

  ended(active: ActiveRun, end: RunEnd): void {
    this.#execution?.end();
    this.#execution = undefined;
    this.#active = undefined;
    this.#reportEnd(active, end);
    this.#startNext();
  }

  /** The team is deleted: cancels its runs and forgets everything. */
  destroy(): void {
    this.queued.cancelAll();
    this.end({ status: "cancelled" });
    this.#leave();
    this.#parts.team.drop();
    this.feed.release();
  }

  /** Makes a run active whose row was just inserted. */
  #begin({ stored, task }: StartingRun): ActiveRun {
    const { alarm, costOf, team } = this.#parts;
    const active = new ActiveRun(this.#stores, costOf, stored, task);
    // The team in memory may have started again after the cancellation of the run that is continued.
    if (stored.record.retry_of !== null) team.drop();
    this.#active = active;
    active.announce();
    // Its heartbeat comes before anything else that is new since the alarm was set.
    alarm.set(this);
    this.feed.statusChanged(active);
    return active;
  }

  #startNext(): void {
    const next = this.queued.take();
    if (next === undefined) return;
    // Not as a start: its request was answered long ago, and a turn that ends the process must not take the end of the
    // run before with it.
    this.#execute(this.#begin(next), "idle");
  }

  #statusChanged(active: ActiveRun): void {
    this.#parts.alarm.set();
    this.feed.statusChanged(active);
  }

  #giveUp(outcome: Outcome, repeat: readonly string[]): void {
    const active = this.#active;
    if (active === undefined) return;
    const { costOf, live, team } = this.#parts;
    try {
      const given = { outcome, repeat, time: this.#clock() };
      const end = giveUp(this.#stores, active, given, (id) => live.textOf(id));
      this.#leave();
      this.#reportEnd(active, end);
    } catch (error) {
      // It could not be stored, so it did not happen, although the record in memory says so.
      this.#leave();
      this.#active = ActiveRun.load(this.#stores, costOf);
      this.#recovering = true;
      throw error;
    } finally {
      team.drop();
    }
  }

  /** Detaches the run and cancels an execution under way. */
  #leave(): void {
    this.#execution?.cancel();
    this.#execution = undefined;
    this.#active = undefined;
  }

  #reportEnd(active: ActiveRun, { outcome, retract, terminal }: RunEnd): void {
    const { alarm, log, telemetry } = this.#parts;
    alarm.over(this, this.#stores.outbox !== undefined);
    this.feed.ended(active, retract, terminal);
    if (outcome.status === "failed") {
      log(failureEntry(this.#stores, active, outcome.error), outcome.error);
    }
    telemetry?.ended(active.record, active.exchanges);
  }

  #clock(): Moment {
    const at = Date.now();
    return this.#execution?.clock() ?? { at, ran: this.#active?.ran(at) ?? 0 };
  }
}
