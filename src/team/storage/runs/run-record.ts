import type { JsonObject } from "../../../core/json.ts";
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
  /** The progress at the last recovery, see recovery-budget.ts. */
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
