import type { JsonObject } from "../../../core/json.ts";
import type { ChatMessage } from "../../../core/messages/message.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { RequestUsage } from "../../../core/models/request-usage.ts";
import type { SecretPushConfig } from "../../../contract/webhooks/push.ts";
import type { StoredRunWebhook } from "../../../contract/webhooks/webhook.ts";
import type { RunError, RunNote, RunStatus } from "../../../contract/run.ts";
import type { UsageByModel } from "../../../contract/usage/usage-schemas.ts";
import type { TokensByModel } from "../../../contract/usage/model-usage.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import type { StoredSpans } from "../../../telemetry/stored-spans.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Database } from "../../../sqlite/database.ts";
import type { RunPosition, RunQueue } from "./run-queue.ts";

/** Trace data of the run besides its turns. */
export interface RunTraceRecord {
  /** The team's last turn before the run. */
  after: number;
  /** The caller's trace context. */
  context?: TraceContext;
  /** The last restarts; times in epoch milliseconds. */
  recoveries?: (readonly [turn: number, since: number, at: number])[];
}

/** The stored record of a run, written when its status changes. Times are ISO 8601 UTC unless noted. */
export interface RunRecord {
  id: string;
  status: RunStatus;
  output_task_messages: boolean;
  /** For whom it is; missing for no user. */
  user?: string;
  metadata: JsonObject;
  timeout_seconds: number | null;
  max_total_tokens: number | null;
  /** Cost in the currency of the prices. Missing in runs of versions without it. */
  max_cost?: number | null;
  retry_of: string | null;
  /** The first turn: 0, or for a retry the turn that failed. */
  first_turn: number;
  /** Prefix of the first turn's ids and keys; a retry keeps those of the run it repeats. */
  first_turn_id: string;
  first_moment: Moment;
  /** Milliseconds of running of the retried run; the retry's own time limit does not count them. */
  ran_before: number;
  /** For a retry: the tokens of the reused steps, which the retried run has counted. */
  taken_over: { tokens?: TokensByModel } | null;
  /** Tokens of recorded model calls of this turn that must run again, and the spans of such steps. */
  discarded?: { turn: number; tokens: TokensByModel; spans?: StoredSpans };
  /** The team's epoch; a retry after a reset would find another conversation. */
  epoch: number;
  /** The cursor before the run's first event, and the cursor of its terminal event. */
  first_event: number;
  last_event: number | null;
  /** Value at the last change of status. */
  next_turn: number;
  /** The team's last finished turn at the last change of status. */
  turn: number;
  /** For an ended run: when the turn in which it ended began. */
  last_turn: {
    started: Moment;
    /** Spans of a turn that was given up, because no commit has them. */
    spans?: StoredSpans;
  } | null;
  /** Milliseconds of running. */
  ran: number;
  /** Tokens of all its model calls at the last change of status. */
  usage: RequestUsage;
  /** The run's tokens by model. Missing in runs of versions that did not count by model. */
  models?: UsageByModel;
  stop_requested: "after_turn" | "now" | null;
  pause_requested: boolean;
  /** Whether the run was resumed and the agents' resume hooks have not run yet. */
  resuming: boolean;
  /** When a long backoff ends, epoch milliseconds; nothing runs until then. */
  wake_at: number | null;
  /** Since when the run has been idle for that reason alone, epoch milliseconds: its status is still `running`. */
  rest_since: number | null;
  recoveries: number;
  /**
   * How often the run has resumed after an interruption or an idle wait since the event with that cursor; missing
   * before the first time.
   */
  restarts?: { after: number; count: number };
  /** Missing in runs of earlier versions. */
  trace?: RunTraceRecord;
  /** The progress at the last recovery, see recovery.ts. */
  recovery_mark: string | null;
  stop_reason: string | null;
  /** Runs that failed in earlier versions have fewer fields. */
  error: (Pick<RunError, "type" | "message"> & Partial<Omit<RunError, "type" | "message">>) | null;
  /** Missing if the run has none. */
  notes?: RunNote[];
  /** Tools of the client; missing if it has none. */
  tools?: readonly ToolSchema[];
  /** The format in which the client wants the answer; missing if it did not say. */
  answer_form?: AnswerForm;
  /** Members of the shared state that the client has set; missing if there are none. */
  state?: JsonObject;
  /** Missing in runs of earlier versions. */
  webhook?: StoredRunWebhook | null;
  /** Missing if the run has none. */
  push?: readonly SecretPushConfig[];
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
}

/** A run and the number of its row; 0 if it has not started. */
export interface StoredRun {
  seq: number;
  record: RunRecord;
}

interface RunRow extends Record<string, string | number | null> {
  seq: number;
  record: string;
}

/** The runs of a team: started runs in the order of their start, and queued runs. */
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
      "insert into run (seq, id, task, record) values (?, ?, ?, ?)",
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

  /** Stores the outcome of a run, with the steps of a turn that was given up. */
  end({ seq, record }: StoredRun, steps: string | undefined): void {
    const column = steps === undefined ? null : this.#texts.store(stepsOwner(seq), steps);
    const values = [JSON.stringify(record), column ?? (steps === undefined ? null : "")];
    this.#db.write("update run set record = ?, steps = ? where seq = ?", ...values, seq);
  }

  /** The steps of the turn in which it was given up. */
  steps(seq: number): string | undefined {
    const query = "select steps from run where seq = ?";
    const column = this.#db.first<{ steps: string | null }>(query, seq)?.steps ?? null;
    return column === null ? undefined : this.#texts.load(stepsOwner(seq), column || null);
  }

  task({ seq, record: { id } }: StoredRun): ChatMessage[] | null {
    const text =
      seq === 0 ? this.#queue.task(id) : this.#texts.load(`run:${seq}`, this.#taskColumn(seq));
    return JSON.parse(text) as ChatMessage[] | null;
  }

  /** Approximate bytes of a run's task. */
  taskSize({ seq, record: { id } }: StoredRun): number {
    if (seq === 0) return this.#queue.taskSize(id);
    return this.#texts.size(`run:${seq}`, this.#taskColumn(seq));
  }

  /** The run that started last. Only this run can be active. */
  last(): StoredRun | undefined {
    return load(this.#db.first<RunRow>("select seq, record from run order by seq desc limit 1"));
  }

  /** Whether the team's last committed turn up to this one belongs to a cancelled run. */
  wasCancelledAt(turn: number): boolean {
    for (const row of this.#db.each<RunRow>(
      "select seq, record from run where seq < ? order by seq desc",
      [Number.MAX_SAFE_INTEGER],
      ({ seq }) => [seq],
    )) {
      const run = JSON.parse(row.record) as RunRecord;
      if (run.turn < turn) return false;
      if (run.turn === turn && run.status === "cancelled") return true;
    }
    return false;
  }

  /** A run that has started, by its row. */
  bySeq(seq: number): StoredRun | undefined {
    return load(this.#db.first<RunRow>("select seq, record from run where seq = ?", seq));
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
        // A run cancelled before its start stands above the run whose place it has.
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

function stepsOwner(seq: number): string {
  return `steps:run:${seq}`;
}

/** Whether the run has an outcome. */
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
