import { TroupeError } from "../core/errors.ts";
import type { Message } from "../core/messages/message.ts";
import type { Progress } from "../core/run/runnable.ts";
import { isTurnSignal, type TurnSignal } from "../core/run/signals.ts";
import { TurnScope } from "../core/run/turn-scope.ts";
import type { Moment } from "../core/run/turn-host.ts";
import { ActiveRun } from "./active-run.ts";
import { alarmTime, timeLeft } from "./alarm-time.ts";
import { Drive } from "./drive.ts";
import type { RecordedEvent } from "./event-log.ts";
import { namedFrame } from "./frames.ts";
import type { Live } from "./live.ts";
import type { OpenTeam, TeamCache } from "./open-team.ts";
import { defaultAnswer } from "./question-store.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import type { Stores } from "./stores.ts";
import { TurnJournal } from "./turn-journal.ts";

/** Restarts in a row after which nothing new had been recorded. */
const MOST_RECOVERIES = 10;
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
  readonly #ended = new Set<() => void>();
  #active: ActiveRun | undefined;
  #drive: Drive | undefined;
  /** Whether the run was found running when the object was loaded. */
  #recovering: boolean;

  constructor({ storage, stores, live, team }: DriverOptions) {
    this.#storage = storage;
    this.#stores = stores;
    this.#live = live;
    this.#team = team;
    this.#active = ActiveRun.load(stores);
    this.#recovering =
      this.#active?.record.status === "running" && this.#active.record.wake_at === null;
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
    this.#statusChanged();
    this.kick();
  }

  /** Drives the run if there is something to do and nobody does it. */
  kick(): void {
    const active = this.#active;
    if (active === undefined || this.#drive !== undefined) return;
    const { status, wake_at, pause_requested } = active.record;
    if (status === "paused") return;
    if (!pause_requested && (status !== "running" || wake_at !== null)) return;
    const drive = new Drive(active);
    this.#drive = drive;
    void this.#run(drive)
      .catch(() => {
        // Not even the failure could be stored. The alarm comes back to what is.
        this.#active = ActiveRun.load(this.#stores);
        this.#recovering = true;
      })
      .finally(() => {
        if (this.#drive === drive) this.#drive = undefined;
      });
  }

  /** The alarm: re-arms first, so that whatever goes wrong below, it rings again. */
  tick(): void {
    const active = this.#active;
    if (active === undefined) return;
    const now = Date.now();
    this.arm();
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
    this.#frameOfRun(active);
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
    this.#statusChanged();
    this.kick();
    if (this.#drive) this.#drive.resuming = true;
  }

  /** Asks for a pause; it begins when the steps under way are done. */
  pause(active: ActiveRun): void {
    active.record.pause_requested = true;
    this.#stores.runs.update(active.stored);
    this.#drive?.interrupt();
    this.kick();
  }

  /** Ends the run now. The turn in progress is given up and its messages taken back; a drive under way is superseded. */
  end(outcome: Outcome): void {
    const active = this.#active;
    if (active === undefined) return;
    const journal = this.#drive?.journal;
    const events = this.#stores.transaction(() => {
      active.record.ran = this.clock().ran;
      const repeat =
        outcome.status === "failed" ? (journal?.stepsToRepeat(outcome.error) ?? []) : [];
      for (const key of repeat) this.#stores.steps.remove(key);
      const retract = active.events.retractAll();
      return [retract, writeOutcome(this.#stores, active, outcome, active.next)];
    });
    this.#team.drop();
    this.#finish(active, events);
  }

  /** Completes a run that was asked to stop after its turn, in a turn that will not go on by itself. */
  stopAtOnce(): void {
    this.end({ status: "completed", stopReason: STOP_REASON });
  }

  /** Forgets everything: the team is deleted. */
  destroy(): void {
    this.#drive?.supersede();
    this.#drive = undefined;
    this.#active = undefined;
    this.#team.drop();
    this.#announceEnd();
  }

  /** Resolves when the present run is over, or after `ms`. */
  async untilEnd(ms: number): Promise<void> {
    if (this.#active === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const ended = this.#ended;
      ended.add(done);
      function done(): void {
        clearTimeout(timer);
        ended.delete(done);
        resolve();
      }
    });
  }

  /** Sets the alarm to when something has to happen by itself. */
  arm(): void {
    const active = this.#active;
    const open = active ? this.#stores.questions.open(active.record.id) : [];
    const { at, ran } = this.clock();
    const time = alarmTime(active, open, at, ran);
    if (time === null) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(time);
  }

  clock(): Moment {
    const at = Date.now();
    return { at, ran: this.#drive?.ran(at) ?? this.#active?.ran ?? 0 };
  }

  async #run(drive: Drive): Promise<void> {
    const { active } = drive;
    try {
      if (this.#recovering) await this.#recover(active);
      for (let turns = 1; this.#isCurrent(drive); turns++) {
        if (turns % TURNS_AT_A_STRETCH === 0) await scheduler.wait(0);
        const open = await this.#team.open();
        if (!this.#isCurrent(drive)) return;
        if (active.record.pause_requested) {
          if (active.record.stop_requested !== null) {
            this.stopAtOnce();
            return;
          }
          await open.runnable.onPause();
          if (this.#isCurrent(drive) && active.record.pause_requested) this.#rest(active, "paused");
          return;
        }
        if (drive.resuming) {
          drive.resuming = false;
          await open.runnable.onResume();
          if (!this.#isCurrent(drive)) return;
        }
        const signal = await this.#turn(drive, open);
        if (!this.#isCurrent(drive)) return;
        if (signal !== undefined && !this.#stopped(drive, signal)) return;
      }
    } catch (error) {
      if (this.#isCurrent(drive)) this.end({ status: "failed", error });
    }
  }

  /** Carries out one turn and commits it, or returns the signal that ended it early. */
  async #turn(drive: Drive, open: OpenTeam): Promise<TurnSignal | undefined> {
    const { active } = drive;
    const { steps, questions } = this.#stores;
    const journal = new TurnJournal({
      turnId: active.turnId,
      started: active.started,
      runId: active.record.id,
      steps,
      questions,
      control: drive.control({
        isCurrent: () => this.#isCurrent(drive),
        discard: (id) => this.#live.discard(id),
        retractOutstanding: () => this.#sendEvents([active.events.retractOutstanding()]),
        refusal: () => overBudget(active),
        fail: (error) => this.end({ status: "failed", error }),
      }),
    });
    drive.journal = journal;
    const ctx = TurnScope.root(journal);
    const { runnable } = open;
    const messages = active.next === 0 ? this.#stores.runs.task(active.stored.seq) : null;
    const turn =
      active.next === 0
        ? runnable.begin({ messages, outputTaskMessages: true }, ctx)
        : runnable.turn(ctx);
    let next: IteratorResult<Message, Progress>;
    try {
      for (;;) {
        next = await turn.next();
        if (!this.#isCurrent(drive)) {
          // Lets agents and tools release what they hold; nobody waits for it.
          void turn.return({ done: true, stopReason: null }).catch(() => undefined);
          return undefined;
        }
        if (next.done) break;
        this.#emit(active, next.value);
      }
    } catch (error) {
      if (isTurnSignal(error)) return error;
      throw error;
    }
    this.#commit(drive, open, next.value);
    return undefined;
  }

  #emit(active: ActiveRun, message: Message): void {
    if (message.type === "ModelClientStreamingChunkEvent") this.#live.chunk(message);
    else this.#live.message(message, active.events.emit(message));
  }

  #commit(drive: Drive, open: OpenTeam, progress: Progress): void {
    const { active } = drive;
    const { log, steps } = this.#stores;
    const outcome = outcomeOf(active, progress);
    const { commit, events } = this.#stores.transaction(() => {
      const retract = active.events.retractOutstanding();
      steps.clear();
      const time = this.clock();
      const { usage, turn } = active;
      const next = active.next + 1;
      active.record.ran = time.ran;
      const last = outcome && writeOutcome(this.#stores, active, outcome, next);
      const made = { turn, run: active.stored.seq, next, time, usage, event: log.last };
      open.state.write(made);
      return { commit: made, events: [retract, last] };
    });
    open.state.committed();
    if (outcome) {
      this.#finish(active, events);
      return;
    }
    active.advance(commit);
    this.#live.endTexts("forget");
    this.#sendEvents(events);
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
    if (record.stop_requested !== null) {
      this.stopAtOnce();
      return false;
    }
    if (record.pause_requested || signal.kind === "pause" || drive.takeAnswers()) return true;
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
    active.record.ran = this.clock().ran;
    active.record.status = status;
    this.#drive = undefined;
    this.#live.endTexts("forget");
    this.#statusChanged();
  }

  #goOn(active: ActiveRun): void {
    active.record.status = "running";
    active.record.wake_at = null;
    this.#statusChanged();
  }

  #statusChanged(): void {
    const active = this.#active;
    if (active === undefined) return;
    active.record.usage = active.usage;
    active.record.next_turn = active.next;
    this.#stores.runs.update(active.stored);
    this.arm();
    this.#frameOfRun(active);
    const { status } = active.record;
    if (status === "running") this.#live.wake();
    else this.#live.rest();
  }

  /** Counts restarts that found nothing new: something in there may be what ends us. */
  async #recover(active: ActiveRun): Promise<void> {
    this.#recovering = false;
    const { record, stored } = active;
    const mark = `${active.next}:${this.#stores.steps.finished}:${this.#stores.log.last}`;
    record.recoveries = record.recovery_mark === mark ? record.recoveries + 1 : 1;
    record.recovery_mark = mark;
    if (record.recoveries > MOST_RECOVERIES) {
      throw new TroupeError(
        "recovery_limit",
        `the run was interrupted ${MOST_RECOVERIES} times in a row without getting any further`,
      );
    }
    this.#stores.runs.update(stored);
    this.arm();
    // Without this the count would be lost with whatever comes next.
    await this.#storage.sync();
  }

  #finish(active: ActiveRun, events: readonly (RecordedEvent | undefined)[]): void {
    this.#drive?.supersede();
    this.#drive = undefined;
    this.#active = undefined;
    void this.#storage.deleteAlarm();
    this.#live.endTexts("discard");
    // A cancelled run's terminal event is that frame.
    const [retract, terminal] = events;
    this.#sendEvents([retract]);
    if (active.record.status !== "cancelled") this.#frameOfRun(active);
    this.#sendEvents([terminal]);
    this.#live.wake();
    this.#live.close("of_run");
    this.#announceEnd();
  }

  #announceEnd(): void {
    for (const ended of this.#ended) ended();
  }

  #sendEvents(events: readonly (RecordedEvent | undefined)[]): void {
    for (const event of events) if (event) this.#live.event(event);
  }

  #frameOfRun(active: ActiveRun): void {
    if (this.#live.connected > 0) this.#live.send(namedFrame("run", active.info()));
  }

  #isCurrent(drive: Drive): boolean {
    return this.#drive === drive;
  }
}

/** AutoGen's text for a stop from outside. */
const STOP_REASON = "External termination requested";

function outcomeOf(active: ActiveRun, progress: Progress): Outcome | undefined {
  const error = overBudget(active);
  if (error) return { status: "failed", error };
  if (progress.done) return { status: "completed", stopReason: progress.stopReason };
  // A team stops by itself when it is asked to; a runnable of another kind may not.
  if (active.record.stop_requested === null) return undefined;
  return { status: "completed", stopReason: STOP_REASON };
}

function overBudget({ record, usage }: ActiveRun): TroupeError | undefined {
  const { max_total_tokens } = record;
  const used = usage.prompt_tokens + usage.completion_tokens;
  if (max_total_tokens === null || used <= max_total_tokens) return undefined;
  return new TroupeError(
    "token_limit",
    `the run used ${used} tokens, more than its limit of ${max_total_tokens}`,
  );
}
