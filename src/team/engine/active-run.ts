import type { ChatMessage } from "../../core/messages/message.ts";
import type { RunInfo, RunNote } from "../../contract/run.ts";
import {
  addTokens,
  addToUsage,
  type CostOf,
  NO_USAGE,
  type RunUsage,
  subtractTokens,
  type TokensByModel,
} from "../../contract/usage/model-usage.ts";
import type { ModelCallUnderWay, Moment } from "../../core/turn/turn-host.ts";
import type { Exchange } from "../../telemetry/spans/span.ts";
import {
  loadSpans,
  NO_SPANS,
  storeSpans,
  type TurnSpans,
} from "../../telemetry/spans/stored-spans.ts";
import type { TurnTrace } from "../../telemetry/spans/turn-trace.ts";
import type { RunRecord, StoredRun } from "../storage/runs/run-record.ts";
import { isOver } from "../storage/runs/run-store.ts";
import type { Commit } from "../storage/log/commits.ts";
import type { Stores } from "../storage/stores.ts";
import { type Idle, isIdle } from "./next-action.ts";
import {
  committed,
  continued,
  type CountedTurns,
  discarded,
  noted,
  restartsSince,
  resumed,
  suspended,
} from "./run-state.ts";
import { runInfo } from "./views/run-info.ts";
import { recordedTrace } from "./journal/recorded-turn.ts";
import { TurnEvents } from "./journal/turn-events.ts";
import type { TurnSteering } from "./journal/turn-steering.ts";

/** A run that has no outcome yet, and its turn in progress. */
export class ActiveRun {
  /** The run and its record, which each change replaces. */
  stored: StoredRun;
  record: RunRecord;
  readonly #stores: Stores;
  readonly #costOf: CostOf;
  /** When the run began, epoch milliseconds. */
  readonly startedAt: number;
  /** True if it has a limit of tokens or of cost. */
  readonly isLimited: boolean;
  #task: readonly ChatMessage[] | null | undefined;
  /** Number of the turn in progress within the run; 0 relays the task. */
  turnOfRun: number;
  /** Number of the turn in progress in the team's life. */
  turnOfTeam: number;
  /** When the turn in progress began, the same when it runs again. */
  turnStarted: Moment;
  /** The cursor before the turn's first event. */
  turnCursor: number;
  /** The cursor before the conversation's first event. */
  readonly conversationCursor: number;
  /** The usage of the model calls up to the last commit. */
  #committed: RunUsage;
  /** The usage with the tokens of the turn that it was last asked for. */
  #counted: { tokens: TokensByModel; usage: RunUsage } | undefined;
  #events: TurnEvents | undefined;
  /** The trace of the turn in progress; undefined until it runs in this object. */
  trace: TurnTrace | undefined;
  /** Model calls under way, by their steps. */
  readonly calls = new Map<string, ModelCallUnderWay>();
  /** The tokens of the longest answer that this object has seen in the run; undefined before the first. */
  longestAnswer: number | undefined;
  /** The requests and answers of the turn's model calls, by their steps, if the deployment's telemetry wants them. */
  readonly exchanges = new Map<string, Exchange>();
  /** Takes messages while a turn is played; undefined between two turns. */
  steering: Pick<TurnSteering, "arrived"> | undefined;
  /** Resolves with the commit, from the team's last reading in a turn on: nothing is accepted in between. */
  closing: Promise<void> | undefined;
  #closed: (() => void) | undefined;

  /** @param task its messages, where they are in memory; otherwise they are read when needed */
  constructor(
    stores: Stores,
    costOf: CostOf,
    stored: StoredRun,
    task?: readonly ChatMessage[] | null,
  ) {
    this.#stores = stores;
    this.#costOf = costOf;
    this.stored = stored;
    this.record = stored.record;
    const { started_at, created_at, max_total_tokens, max_cost = null } = this.record;
    this.startedAt = Date.parse(started_at ?? created_at);
    this.isLimited = max_total_tokens !== null || max_cost !== null;
    this.#task = task;
    const commit = stores.commits.last;
    this.turnOfTeam = (commit?.turn ?? 0) + 1;
    this.conversationCursor = commit?.since ?? 0;
    const own = commit?.run === stored.seq ? commit : undefined;
    this.turnOfRun = own?.next ?? this.record.first_turn;
    this.turnStarted = own?.time ?? this.record.first_moment;
    this.turnCursor = own?.event ?? this.record.first_event;
    this.#committed = own ? { usage: own.usage, models: own.models ?? {} } : NO_USAGE;
  }

  /** The team's active run. */
  static load(stores: Stores, costOf: CostOf): ActiveRun | undefined {
    const last = stores.runs.last();
    if (last === undefined || isOver(last.record)) return undefined;
    return new ActiveRun(stores, costOf, last);
  }

  /** The messages that started the run; null continues without a new task. */
  get task(): readonly ChatMessage[] | null {
    if (this.#task === undefined) this.#task = this.#stores.runs.task(this.stored);
    return this.#task;
  }

  /** {@link isIdle} */
  get idle(): boolean {
    return isIdle(this.record);
  }

  /** True if the turn in progress is the one a retried run failed in. */
  get repeatsFailedTurn(): boolean {
    return this.turnOfRun === this.record.first_turn && this.record.taken_over !== null;
  }

  /** The events of the turn in progress so far, restarts included. */
  get events(): TurnEvents {
    this.#events ??= new TurnEvents({
      log: this.#stores.log,
      run: this.stored.seq,
      turn: this.turnOfTeam,
      after: this.turnCursor,
      quiet: this.#quiet(),
      isSentIn: (id) => this.#stores.steering.has(id),
    });
    return this.#events;
  }

  /** The number of times that the run was interrupted, or has continued after it was idle, since the last event. */
  get restarts(): number {
    return restartsSince(this.record, this.#stores.log.last);
  }

  /** Takes the record that a transition has made. The next write stores it. */
  become(record: RunRecord): void {
    this.record = record;
    this.stored = { seq: this.stored.seq, record };
  }

  /** Takes the record that a transition has made, and stores it. */
  store(record: RunRecord): void {
    this.become(record);
    this.#stores.runs.update(this.stored);
  }

  /** Nothing runs from here on. */
  suspend({ status, wakeAt }: Idle, time: Moment): void {
    const { record, counted } = this;
    this.store(suspended(record, { status, wakeAt, time, counted }));
    this.announce();
  }

  /** It waits no longer. */
  continue({ ran }: Moment): void {
    const { record, counted } = this;
    this.store(continued(record, { ran, event: this.#stores.log.last, counted }));
    this.announce();
  }

  /** Ends a pause, or takes back the request for one. Returns whether it was paused. */
  resume(): boolean {
    const { record, counted } = this;
    const facts = { now: Date.now(), event: this.#stores.log.last, counted };
    const wasPaused = record.status === "paused";
    this.store(resumed(record, facts));
    if (wasPaused) this.announce();
    return wasPaused;
  }

  /** Reports its status to the tenant, inside the transaction that changes it. */
  announce(): void {
    this.#stores.announcer.run(this.stored, { task: this.#task, last: this.#events?.lastSaid });
  }

  /** The spans of the turn in progress. @param closedAt as of {@link TurnTrace.spans} */
  spans(closedAt?: number): TurnSpans {
    return (this.trace ?? recordedTrace(this.#stores, this)).spans(closedAt);
  }

  /** Before the turn runs again: what it emits is then compared with what is recorded. */
  restartEvents(): void {
    this.#events = undefined;
  }

  /**
   * The usage of all recorded model calls of the run, each counted once however often its turn runs. It includes calls whose
   * turn was given up.
   */
  get usage(): RunUsage {
    const tokens = this.#turnTokens;
    if (this.#counted?.tokens !== tokens) {
      const isUsed = Object.keys(tokens).length > 0;
      const usage = isUsed ? addToUsage(this.#committed, tokens, this.#costOf) : this.#committed;
      this.#counted = { tokens, usage };
    }
    return this.#counted.usage;
  }

  /** The spans of the turn's discarded steps. */
  get discardedSpans(): TurnSpans {
    const spans = this.#discarded?.spans;
    return spans === undefined ? NO_SPANS : loadSpans(spans, this.turnStarted.at);
  }

  /**
   * Removes recorded steps that have to run again. Their model calls still count.
   *
   * @param shown the spans of all the turn's discarded steps, where its trace shows them
   */
  discardSteps(keys: readonly string[], shown = this.discardedSpans): void {
    const { steps } = this.#stores;
    const removed = keys.map((key) => steps.remove(key)).reduce(addTokens, {});
    const spans = storeSpans(shown, this.turnStarted.at);
    if (Object.keys(removed).length === 0 && spans === undefined) return;
    this.store(discarded(this.record, { turn: this.turnOfRun, tokens: removed, spans }));
  }

  /** A step has a result: the longest answer of a model tells how long the next may be. @param tokens what its model call has used */
  answered(tokens: TokensByModel): void {
    for (const { completion_tokens } of Object.values(tokens)) {
      if (completion_tokens > (this.longestAnswer ?? 0)) this.longestAnswer = completion_tokens;
    }
  }

  /** The usage of calls that failed although their models had answered, or had begun to: their makers charge for it. */
  countSpent(tokens: TokensByModel): void {
    this.store(discarded(this.record, { turn: this.turnOfRun, tokens }));
  }

  /** Notes an omission in a request to a model. Returns true if the run has not had that note. */
  note(note: RunNote): boolean {
    const next = noted(this.record, note);
    if (next === this.record) return false;
    this.store(next);
    return true;
  }

  /** Milliseconds of running the records show at `now`, while no execution counts them. */
  ran(now: number): number {
    const { ran, rest_since } = this.record;
    const known = Math.max(ran, this.turnStarted.ran, this.#stores.steps.ran);
    return rest_since === null ? known : known + Math.max(0, now - rest_since);
  }

  /** The team has read what was sent into the run. What comes from now on belongs to the next turn. */
  close(): void {
    this.closing = new Promise((resolve) => {
      this.#closed = resolve;
    });
  }

  /** The turn is over. */
  leaveTurn(): void {
    this.steering = undefined;
    this.closing = undefined;
    this.#closed?.();
    this.#closed = undefined;
  }

  /** Moves to the turn after a commit. */
  advance(commit: Commit): void {
    this.turnOfRun = commit.next;
    this.turnOfTeam = commit.turn + 1;
    this.turnStarted = commit.time;
    this.turnCursor = commit.event;
    this.#committed = { usage: commit.usage, models: commit.models ?? {} };
    this.#counted = undefined;
    if (this.record.discarded !== undefined) this.become(committed(this.record));
    this.#events = undefined;
    this.trace = undefined;
    this.calls.clear();
    this.exchanges.clear();
  }

  /** Record fields that are not persisted yet: they are in memory between two changes of status. */
  get counted(): CountedTurns {
    return { ...this.usage, next_turn: this.turnOfRun, turn: this.turnOfTeam - 1 };
  }

  info(): RunInfo {
    const record = { ...this.record, ...this.counted };
    return runInfo(this.#stores, { seq: this.stored.seq, record }, this.task);
  }

  /** A task that streams must not show is part of the conversation nevertheless. */
  #quiet(): ReadonlySet<string> {
    if (this.turnOfRun > 0 || this.record.output_task_messages) return new Set();
    return new Set((this.task ?? []).map(({ id }) => id));
  }

  /** The tokens of the turn in progress, without those that a retried run has counted. */
  get #turnTokens(): TokensByModel {
    const { tokens: recorded } = this.#stores.steps;
    const discardedTokens = this.#discarded?.tokens;
    const tokens = discardedTokens ? addTokens(recorded, discardedTokens) : recorded;
    const counted = this.repeatsFailedTurn ? this.record.taken_over?.tokens : undefined;
    return counted === undefined ? tokens : subtractTokens(tokens, counted);
  }

  /** The usage of discarded attempts of the turn in progress. */
  get #discarded(): RunRecord["discarded"] {
    const { discarded: found } = this.record;
    return found?.turn === this.turnOfRun ? found : undefined;
  }
}
