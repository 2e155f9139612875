import type { Log } from "../../core/log.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { CostOf } from "../../contract/usage/model-usage.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import { traceIdOf } from "../../telemetry/trace-context.ts";
import { storeSpans } from "../../telemetry/stored-spans.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import type { StoredRun } from "../storage/runs/run-store.ts";
import { defaultAnswer, type StoredQuestion } from "../storage/runs/question-store.ts";
import type { Stores } from "../storage/stores.ts";
import type { RunTelemetry } from "../telemetry/run-telemetry.ts";
import { ActiveRun } from "./active-run.ts";
import { Drive, type DriveOrigin } from "./drive.ts";
import { failureEntry } from "./failure-entry.ts";
import { type NextAction, nextAction, type TurnState } from "./next-action.ts";
import type { RunAlarm } from "./run-alarm.ts";
import type { RunFeed } from "./run-feed.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import type { TeamCache } from "./team-cache.ts";

export interface RunLifecycleOptions {
  stores: Stores;
  team: TeamCache;
  alarm: RunAlarm;
  feed: RunFeed;
  log: Log;
  costOf: CostOf;
  telemetry: RunTelemetry;
  /** Called when a run has ended, in the same go: starts the next one. */
  onEnd: () => void;
}

/**
 * The active run and all changes of its status. Each change is synchronous and writes everything in one go, so a crash
 * finds it either done or not begun. At most one drive is under way; a superseded one writes nothing.
 */
export class RunLifecycle {
  readonly #stores: Stores;
  readonly #team: TeamCache;
  readonly #alarm: RunAlarm;
  readonly #feed: RunFeed;
  readonly #log: Log;
  readonly #costOf: CostOf;
  readonly #telemetry: RunTelemetry;
  readonly #onEnd: () => void;
  #active: ActiveRun | undefined;
  #drive: Drive | undefined;
  /** Whether the next drive is a recovery. */
  #recovering: boolean;

  constructor(options: RunLifecycleOptions) {
    const { stores, team, alarm, feed, log, costOf, telemetry, onEnd } = options;
    this.#stores = stores;
    this.#team = team;
    this.#alarm = alarm;
    this.#feed = feed;
    this.#log = log;
    this.#costOf = costOf;
    this.#telemetry = telemetry;
    this.#onEnd = onEnd;
    this.#active = ActiveRun.load(stores, costOf);
    if (this.#active) alarm.resume(this.#active.record, this.clock());
    this.#recovering = this.#active !== undefined && this.#wasInterrupted(this.#active);
  }

  get active(): ActiveRun | undefined {
    return this.#active;
  }

  get drive(): Drive | undefined {
    return this.#drive;
  }

  clock(): Moment {
    const at = Date.now();
    return this.#drive?.clock() ?? { at, ran: this.#active?.ran(at) ?? 0 };
  }

  /** What the run needs next. @param turn known to the loop while there is a drive */
  next(active: ActiveRun, turn = this.#turnState(active)): NextAction {
    return nextAction(active.record, {
      turn,
      answered: this.#drive?.answered ?? false,
      openQuestions: this.#stores.questions.open(active.record.id),
      wakeAt: this.#stores.steps.wakeAt,
      now: this.clock(),
    });
  }

  /** Makes a run active whose row was just inserted. */
  begin(stored: StoredRun, task: readonly ChatMessage[] | null): void {
    const active = new ActiveRun(this.#stores, this.#costOf, stored, task);
    // The team in memory may have begun anew after the cancellation of the run that is continued.
    if (stored.record.retry_of !== null) this.#team.drop();
    this.#active = active;
    this.#stores.announcer.run(active.record);
    this.#alarm.set(active.record, this.clock());
    this.#feed.statusChanged(active);
  }

  openDrive(active: ActiveRun, origin: DriveOrigin): Drive {
    const drive = new Drive(active, this.#recovering ? "recovery" : origin);
    this.#recovering = false;
    this.#drive = drive;
    return drive;
  }

  /** The loop has returned. */
  closeDrive(drive: Drive): void {
    drive.end();
    if (this.#drive === drive) this.#drive = undefined;
  }

  /** Sets the alarm again, before anything that may go wrong. */
  arm(active: ActiveRun): void {
    this.#alarm.set(active.record, this.clock());
  }

  /** Nothing runs from here on until a client or the alarm wakes the run. */
  rest(
    active: ActiveRun,
    { status, wakeAt }: { status: "waiting" | "paused" | "running"; wakeAt: number | null },
  ): void {
    const { record } = active;
    const { at, ran } = this.clock();
    record.ran = ran;
    record.rest_since = status === "running" ? at : null;
    record.status = status;
    record.wake_at = wakeAt;
    this.#drive?.end();
    this.#drive = undefined;
    this.#feed.turnOver();
    this.#statusChanged(active);
    this.#telemetry.rests();
  }

  /** A waiting run goes on. */
  wake(active: ActiveRun): void {
    const { record } = active;
    record.ran = this.clock().ran;
    record.rest_since = null;
    record.status = "running";
    record.wake_at = null;
    active.restarted();
    this.#statusChanged(active);
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
    active.restarted();
    this.#statusChanged(active);
  }

  /** A question of the run was answered. */
  answered(active: ActiveRun): void {
    if (this.#drive) this.#drive.answered = true;
    if (active.record.status === "waiting") this.wake(active);
    else this.#feed.run(active);
  }

  answerByDefault(active: ActiveRun, questions: readonly StoredQuestion[]): void {
    const now = Date.now();
    for (const { question } of questions) {
      this.#stores.questions.answer(question.id, defaultAnswer(question), now);
      this.answered(active);
    }
  }

  /**
   * Ends the run now. The turn in progress is given up and its messages are retracted; a drive under way is cancelled.
   *
   * @param repeat recorded steps that a retry has to run again
   */
  end(outcome: Outcome, repeat: readonly string[] = []): void {
    this.#giveUp(outcome, repeat);
    this.#onEnd();
  }

  /** Cancels the run in favour of one that the caller begins in the same go. */
  preempt(): void {
    this.#giveUp({ status: "cancelled" }, []);
  }

  /** The commit of the run's last turn has written its outcome. */
  ended(
    active: ActiveRun,
    outcome: Outcome,
    retract: RecordedEvent | undefined,
    terminal: RecordedEvent,
  ): void {
    this.#drive?.end();
    this.#drive = undefined;
    this.#active = undefined;
    this.#alarm.clear();
    this.#feed.ended(active, retract, terminal);
    this.#logFailure(active, outcome);
    this.#telemetry.ended(active.record, active.exchanges);
    this.#onEnd();
  }

  /** A recovery was counted. */
  recovered({ record, turnOfTeam }: ActiveRun): void {
    const { id, recoveries } = record;
    const team = this.#stores.team.record.id;
    const trace = traceIdOf(id, record.trace?.context);
    this.#log({ event: "run_recovered", team, run: id, trace, turn: turnOfTeam, recoveries });
    this.#telemetry.recovered();
  }

  /** Lets go of the run; a drive under way is cancelled. */
  leave(): void {
    this.#drive?.cancel();
    this.#drive = undefined;
    this.#active = undefined;
  }

  #giveUp(outcome: Outcome, repeat: readonly string[]): void {
    const active = this.#active;
    if (active === undefined) return;
    try {
      const { retract, terminal } = this.#stores.transaction(() => {
        const { at, ran } = this.clock();
        active.record.ran = ran;
        const spans = storeSpans(active.spans(at), active.turnStarted.at) ?? [];
        active.discardSteps(repeat);
        active.countCutOff([...active.calls.values()], (id) => this.#feed.textOf(id));
        const taken = active.events.retractAll();
        const { turnOfRun, turnOfTeam, turnStarted } = active;
        const given = { turnOfRun, turnOfTeam, turnStarted, spans };
        const last = writeOutcome(this.#stores, active, outcome, given);
        return { retract: taken, terminal: last };
      });
      this.leave();
      this.#alarm.clear();
      this.#feed.ended(active, retract, terminal);
      this.#logFailure(active, outcome);
      this.#telemetry.ended(active.record, active.exchanges);
    } catch (error) {
      // It could not be stored, so it did not happen, although the record in memory says so.
      this.leave();
      this.#active = ActiveRun.load(this.#stores, this.#costOf);
      this.#recovering = true;
      throw error;
    } finally {
      this.#team.drop();
    }
  }

  #statusChanged(active: ActiveRun): void {
    Object.assign(active.record, active.progress);
    this.#stores.runs.update(active.stored);
    this.#stores.announcer.run(active.record);
    this.#alarm.set(active.record, this.clock());
    this.#feed.statusChanged(active);
  }

  #logFailure(active: ActiveRun, outcome: Outcome): void {
    if (outcome.status !== "failed") return;
    this.#log(failureEntry(this.#stores, active, outcome.error), outcome.error);
  }

  /** Whether a loaded run needs something that is not due just now, like an answer's deadline or the end of a backoff. */
  #wasInterrupted(active: ActiveRun): boolean {
    const { do: needed } = this.next(active);
    return !active.resting || needed === "pause" || needed === "complete";
  }

  #turnState(active: ActiveRun): TurnState {
    if (this.#drive) return "running";
    return active.resting ? "suspended" : "interrupted";
  }
}
