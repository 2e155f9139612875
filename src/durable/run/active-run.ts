import type { ChatMessage } from "../../core/messages/message.ts";
import { addUsage, type RequestUsage } from "../../core/models/llm-messages.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { EventLog } from "../storage/event-log.ts";
import { openRequests } from "../storage/human-requests.ts";
import { isOver, type RunRecord, type StoredRun, turnId } from "../storage/run-store.ts";
import { type Commit, lastCommit } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";
import { TurnEvents } from "./turn-events.ts";

/** A run that has no outcome yet, and its turn in progress. */
export class ActiveRun {
  readonly stored: StoredRun;
  readonly record: RunRecord;
  readonly #stores: Stores;
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
  #usage: RequestUsage;
  #events: TurnEvents | undefined;

  /** @param task its messages, where they are in memory; otherwise they are read when needed */
  constructor(stores: Stores, stored: StoredRun, task?: readonly ChatMessage[] | null) {
    this.#stores = stores;
    this.stored = stored;
    this.record = stored.record;
    this.#task = task;
    const commit = lastCommit(stores.db, stores.texts);
    this.turnOfTeam = (commit?.turn ?? 0) + 1;
    this.conversationCursor = commit?.since ?? 0;
    const own = commit?.run === stored.seq ? commit : undefined;
    this.turnOfRun = own?.next ?? this.record.first_turn;
    this.turnStarted = own?.time ?? this.record.first_moment;
    this.turnCursor = own?.event ?? this.record.first_event;
    this.#usage = own?.usage ?? { prompt_tokens: 0, completion_tokens: 0 };
  }

  /** The team's active run, if it has one. */
  static load(stores: Stores): ActiveRun | undefined {
    const last = stores.runs.last();
    return last === undefined || isOver(last.record) ? undefined : new ActiveRun(stores, last);
  }

  /** The messages that started the run; null continues without a new task. */
  get task(): readonly ChatMessage[] | null {
    if (this.#task === undefined) this.#task = this.#stores.runs.task(this.stored.seq);
    return this.#task;
  }

  /** Whether the run waits for a human or a backoff, or is paused: it has no drive. */
  get resting(): boolean {
    return this.record.status !== "running" || this.record.wake_at !== null;
  }

  /** Whether the turn in progress is the one a retried run failed in. */
  get repeatsFailedTurn(): boolean {
    return this.turnOfRun === this.record.first_turn && this.record.taken_over !== null;
  }

  get turnId(): string {
    return turnId(this.record, this.turnOfRun);
  }

  /** What the turn in progress has emitted so far, restarts included. */
  get events(): TurnEvents {
    this.#events ??= new TurnEvents({
      log: this.#stores.log,
      run: this.stored.seq,
      turn: this.turnOfTeam,
      after: this.turnCursor,
      quiet: this.#quiet(),
      counted: this.#counted(this.#stores.log),
    });
    return this.#events;
  }

  /** Before the turn runs again: what it emits is then compared with what is recorded. */
  restartEvents(): void {
    this.#events = undefined;
  }

  get usage(): RequestUsage {
    return addUsage(this.#usage, this.events.usage);
  }

  /** Milliseconds of running the records show at `now`, while the run has no drive that counts them. */
  ran(now: number): number {
    const { ran, rest_since } = this.record;
    const known = Math.max(ran, this.turnStarted.ran, this.#stores.steps.ran);
    return rest_since === null ? known : known + Math.max(0, now - rest_since);
  }

  /** Goes on to the turn after a commit. */
  advance(commit: Commit): void {
    this.turnOfRun = commit.next;
    this.turnOfTeam = commit.turn + 1;
    this.turnStarted = commit.time;
    this.turnCursor = commit.event;
    this.#usage = commit.usage;
    this.#events = undefined;
  }

  /** Of the record, what is in memory between two changes of status. */
  get progress(): Pick<RunRecord, "usage" | "next_turn" | "turn"> {
    return { usage: this.usage, next_turn: this.turnOfRun, turn: this.turnOfTeam - 1 };
  }

  info(): RunInfo {
    const record = { ...this.record, ...this.progress };
    return runInfo(this.#stores, { seq: this.stored.seq, record }, this.task);
  }

  /** A task that streams must not show is part of the conversation nevertheless. */
  #quiet(): ReadonlySet<string> {
    if (this.turnOfRun > 0 || this.record.output_task_messages) return new Set();
    return new Set((this.task ?? []).map(({ id }) => id));
  }

  #counted(log: EventLog): ReadonlyMap<string, string> {
    const { taken_over } = this.record;
    if (!this.repeatsFailedTurn || taken_over === null) return new Map();
    return log.bodies(taken_over.after, taken_over.up_to);
  }
}

/** A run as the API shows it, without its result. */
export function runInfo(
  stores: Stores,
  run: StoredRun,
  task: readonly ChatMessage[] | null = stores.runs.task(run.seq),
): RunInfo {
  const { team } = stores;
  const { record } = run;
  return {
    id: record.id,
    team_id: team.record.id,
    status: record.status,
    task: task as ChatMessage[] | null,
    stop_reason: record.stop_reason,
    error: record.error && { agent: null, turn: null, step: null, ...record.error },
    usage: record.usage,
    turns: Math.max(0, record.next_turn - Math.max(1, record.first_turn)),
    turn: record.turn,
    requests: isOver(record) ? [] : openRequests(stores, run),
    retry_of: record.retry_of,
    metadata: record.metadata,
    created_at: record.created_at,
    started_at: record.started_at,
    ended_at: record.ended_at,
  };
}
