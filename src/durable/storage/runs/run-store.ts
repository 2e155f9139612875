import type { JsonObject } from "../../../core/json.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { RequestUsage } from "../../../core/models/request-usage.ts";
import type { SecretPushConfig } from "../../../contract/webhooks/push.ts";
import type { StoredRunWebhook } from "../../../contract/webhooks/webhook.ts";
import type { RunError, RunStatus } from "../../../contract/run.ts";
import type { UsageByModel } from "../../../contract/usage/usage-schemas.ts";
import type { TokensByModel } from "../../../contract/usage/model-usage.ts";
import type { TraceContext } from "../../../core/run/turn-context.ts";
import type { StoredSpans } from "../../../telemetry/stored-spans.ts";
import type { Moment } from "../../../core/run/turn-host.ts";
import type { TextStore } from "../text-store.ts";
import type { Database } from "../database.ts";
import type { RunPosition, RunQueue } from "./run-queue.ts";

/** What the run's trace needs besides its turns. */
export interface RunTraceRecord {
  /** The team's last turn before the run. */
  after: number;
  /** The caller's trace. */
  context?: TraceContext;
  /** The last restarts; times in epoch milliseconds. */
  recoveries?: (readonly [turn: number, since: number, at: number])[];
}

/** The stored record of a run, written when its status changes. Times are ISO 8601 UTC unless they say otherwise. */
export interface RunRecord {
  id: string;
  status: RunStatus;
  output_task_messages: boolean;
  metadata: JsonObject;
  timeout_seconds: number | null;
  max_total_tokens: number | null;
  /** In the currency of the prices. Missing in runs of versions without it. */
  max_cost?: number | null;
  retry_of: string | null;
  /** The turn it begins with: 0, or for a retry the one that failed. */
  first_turn: number;
  /** Prefix of the first turn's ids and keys; a retry takes over those of the run it repeats. */
  first_turn_id: string;
  first_moment: Moment;
  /** Milliseconds of running of the retried run; the retry's own time limit does not count them. */
  ran_before: number;
  /** Of a retry: the tokens of the steps it takes over, which the retried run has counted. */
  taken_over: { tokens?: TokensByModel } | null;
  /** Tokens of the model calls that this turn had recorded and has to make again, and spans of such steps. */
  discarded?: { turn: number; tokens: TokensByModel; spans?: StoredSpans };
  /** The team's epoch; a retry after a reset would find another conversation. */
  epoch: number;
  /** The cursor before its first event, and its terminal event's. */
  first_event: number;
  last_event: number | null;
  /** As of the last change of status. */
  next_turn: number;
  /** As of then, the team's last finished turn. */
  turn: number;
  /** Of a run that is over: when the turn it ended in began. */
  last_turn: {
    started: Moment;
    /** Of a turn that was given up: no commit has them. */
    spans?: StoredSpans;
  } | null;
  /** Milliseconds of running. */
  ran: number;
  /** Tokens of all its model calls, as of the last change of status. */
  usage: RequestUsage;
  /** The same by model. Missing in runs of versions that did not count by model. */
  models?: UsageByModel;
  stop_requested: "after_turn" | "now" | null;
  pause_requested: boolean;
  /** Whether a pause is over and the agents' resume hooks have not run yet. */
  resuming: boolean;
  /** When a long backoff is over, epoch milliseconds; nothing runs until then. */
  wake_at: number | null;
  /** Since when the run rests for that reason alone, epoch milliseconds: its status is still `running`. */
  rest_since: number | null;
  recoveries: number;
  /** How often the run has gone on after an interruption or a rest since the event with that cursor; missing before the first time. */
  restarts?: { after: number; count: number };
  /** Missing in runs of earlier versions. */
  trace?: RunTraceRecord;
  /** The progress at the last recovery, see recovery.ts. */
  recovery_mark: string | null;
  stop_reason: string | null;
  /** Of runs that failed before version 2 of the tables: type and message alone. */
  error:
    | (Pick<RunError, "type" | "message"> & Partial<Pick<RunError, "agent" | "turn" | "step">>)
    | null;
  /** Of the client; missing where it has none. */
  tools?: readonly ToolSchema[];
  /** How the client wants to be answered; missing where it does not say. */
  answer_form?: AnswerForm;
  /** Missing in runs of earlier versions. */
  webhook?: StoredRunWebhook | null;
  /** Missing where there is none. */
  push?: readonly SecretPushConfig[];
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

/** A run and the number of its row; 0 of one that has not started. */
export interface StoredRun {
  seq: number;
  record: RunRecord;
}

interface RunRow extends Record<string, string | number | null> {
  seq: number;
  record: string;
}

/** The runs of a team: those that have started, in the order of their start, and those of the queue. */
export class RunStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #queue: RunQueue;

  constructor(db: Database, texts: TextStore, queue: RunQueue) {
    this.#db = db;
    this.#texts = texts;
    this.#queue = queue;
  }

  /** Inserts a run that starts. */
  insert(record: RunRecord, task: readonly ChatMessage[] | null): StoredRun {
    const before = this.#db.first<{ seq: number | null }>("select max(seq) as seq from run");
    const seq = (before?.seq ?? 0) + 1;
    this.#db.write(
      "insert into run values (?, ?, ?, ?)",
      seq,
      record.id,
      this.#texts.store(`run:${seq}`, JSON.stringify(task)),
      JSON.stringify(record),
    );
    return { seq, record };
  }

  update({ seq, record }: StoredRun): void {
    if (seq === 0) return this.#queue.update(record);
    this.#db.write("update run set record = ? where seq = ?", JSON.stringify(record), seq);
  }

  task({ seq, record: { id } }: StoredRun): ChatMessage[] | null {
    const text =
      seq === 0 ? this.#queue.task(id) : this.#texts.load(`run:${seq}`, this.#taskColumn(seq));
    return JSON.parse(text) as ChatMessage[] | null;
  }

  /** Bytes of a run's task, about. */
  taskSize({ seq, record: { id } }: StoredRun): number {
    if (seq === 0) return this.#queue.taskSize(id);
    return this.#texts.size(`run:${seq}`, this.#taskColumn(seq));
  }

  /** The run that started last: the only one that can be active. */
  last(): StoredRun | undefined {
    return load(this.#db.first<RunRow>("select seq, record from run order by seq desc limit 1"));
  }

  /** Whether a run was cancelled whose last committed turn of the team is this one. */
  wasCancelledAt(turn: number): boolean {
    // One by one, because a reader that stops in the middle keeps tables locked: none could be dropped.
    for (let before = Number.MAX_SAFE_INTEGER; ;) {
      const row = this.#db.first<RunRow>(
        "select seq, record from run where seq < ? order by seq desc limit 1",
        before,
      );
      if (row === undefined) return false;
      const run = JSON.parse(row.record) as RunRecord;
      if (run.turn < turn) return false;
      if (run.turn === turn && run.status === "cancelled") return true;
      before = row.seq;
    }
  }

  byId(id: string): StoredRun | undefined {
    const started = this.#db.first<RunRow>("select seq, record from run where id = ?", id);
    if (started) return load(started);
    const record = this.#queue.byId(id);
    return record && { seq: 0, record };
  }

  /** Newest first: the queue, then by start. @param before only runs with a lower position */
  page(before: RunPosition, limit: number): (RunPosition & StoredRun)[] {
    const started = this.#db
      .all<RunRow>(
        "select seq, record from run where seq < ? order by seq desc limit ?",
        // Cancelled before its start, a run stands above the one whose place it has.
        before.n > 0 ? before.place + 1 : before.place,
        limit,
      )
      .map(({ seq, record }) => ({
        place: seq,
        n: 0,
        seq,
        record: JSON.parse(record) as RunRecord,
      }));
    const queue = this.#queue.page(before, limit).map((run) => ({ ...run, seq: 0 }));
    return [...started, ...queue]
      .toSorted((a, b) => b.place - a.place || b.n - a.n)
      .slice(0, limit);
  }

  #taskColumn(seq: number): string | null {
    const query = "select task from run where seq = ?";
    return this.#db.first<{ task: string | null }>(query, seq)?.task ?? null;
  }
}

/** Whether it has reached its outcome. */
export function isOver({ status }: RunRecord): boolean {
  return status === "completed" || status === "cancelled" || status === "failed";
}

/** Prefix of the ids and step keys of a run's turn. */
export function turnId(record: RunRecord, turn: number): string {
  return turn === record.first_turn ? record.first_turn_id : `${record.id}/${turn}`;
}

function load(row: RunRow | undefined): StoredRun | undefined {
  return row && { seq: row.seq, record: JSON.parse(row.record) as RunRecord };
}
