import { addUsage, type RequestUsage } from "../../core/models/llm-messages.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { EventLog } from "../storage/event-log.ts";
import { openRequests } from "../storage/human-requests.ts";
import { isOver, type RunRecord, type StoredRun, turnId } from "../storage/run-store.ts";
import { type Commit, lastCommit } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";
import { TurnEvents } from "./turn-events.ts";

/** A run that is not over, and the turn it is in. */
export class ActiveRun {
  readonly stored: StoredRun;
  readonly record: RunRecord;
  readonly #stores: Stores;
  /** The number of the turn in progress, within the run and within the team's life. */
  next: number;
  turn: number;
  /** When the turn in progress starts, the same when it runs again. */
  started: Moment;
  /** The cursor before the turn's first event. */
  event: number;
  /** The cursor before the conversation's first event. */
  readonly since: number;
  #usage: RequestUsage;
  #events: TurnEvents | undefined;

  constructor(stores: Stores, stored: StoredRun) {
    this.#stores = stores;
    this.stored = stored;
    this.record = stored.record;
    const commit = lastCommit(stores.db, stores.texts);
    this.turn = (commit?.turn ?? 0) + 1;
    this.since = commit?.since ?? 0;
    const own = commit?.run === stored.seq ? commit : undefined;
    this.next = own?.next ?? this.record.first_turn;
    this.started = own?.time ?? this.record.first_moment;
    this.event = own?.event ?? this.record.first_event;
    this.#usage = own?.usage ?? { prompt_tokens: 0, completion_tokens: 0 };
  }

  /** The run that is not over, if there is one. */
  static load(stores: Stores): ActiveRun | undefined {
    const last = stores.runs.last();
    return last === undefined || isOver(last.record) ? undefined : new ActiveRun(stores, last);
  }

  /** Whether nothing is carried out: it waits for a human or for a time, or is paused. */
  get resting(): boolean {
    return this.record.status !== "running" || this.record.wake_at !== null;
  }

  /** Whether the turn is one that another run failed in: a retry begins with it. */
  get again(): boolean {
    return this.next === this.record.first_turn && this.record.taken_over !== null;
  }

  get turnId(): string {
    return turnId(this.record, this.next);
  }

  /** What the turn in progress emitted so far, restarts included. */
  get events(): TurnEvents {
    this.#events ??= new TurnEvents({
      log: this.#stores.log,
      run: this.stored.seq,
      turn: this.turn,
      after: this.event,
      quiet: this.#quiet(),
      counted: this.#counted(this.#stores.log),
    });
    return this.#events;
  }

  /** The turn is about to run again: what it emits is compared with what is recorded. */
  restartEvents(): void {
    this.#events = undefined;
  }

  get usage(): RequestUsage {
    return addUsage(this.#usage, this.events.usage);
  }

  /** Milliseconds the run is known to have been running at `now`, if nothing drives it. */
  ran(now: number): number {
    const { ran, rest_since } = this.record;
    const known = Math.max(ran, this.started.ran, this.#stores.steps.ran);
    return rest_since === null ? known : known + Math.max(0, now - rest_since);
  }

  advance(commit: Commit): void {
    this.next = commit.next;
    this.turn = commit.turn + 1;
    this.started = commit.time;
    this.event = commit.event;
    this.#usage = commit.usage;
    this.#events = undefined;
  }

  info(): RunInfo {
    const { usage, next, turn } = this;
    const record = { ...this.record, usage, next_turn: next, turn: turn - 1 };
    return runInfo(this.#stores, { seq: this.stored.seq, record });
  }

  /** A task that is not to be shown belongs to the conversation all the same. */
  #quiet(): ReadonlySet<string> {
    const { seq, record } = this.stored;
    if (this.next > 0 || record.output_task_messages) return new Set();
    return new Set((this.#stores.runs.task(seq) ?? []).map(({ id }) => id));
  }

  #counted(log: EventLog): ReadonlyMap<string, string> {
    const { taken_over } = this.record;
    if (!this.again || taken_over === null) return new Map();
    return log.bodies(taken_over.after, taken_over.up_to);
  }
}

/** A run as the API shows it, without its result. */
export function runInfo(stores: Stores, run: StoredRun): RunInfo {
  const { team, runs } = stores;
  const { seq, record } = run;
  return {
    id: record.id,
    team_id: team.record.id,
    status: record.status,
    task: runs.task(seq),
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
