import type { JsonObject } from "../../../core/json.ts";
import type { AnswerForm, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { RequestUsage } from "../../../core/models/request-usage.ts";
import type { SecretPushConfig } from "../../../contract/push.ts";
import type { StoredReceiver } from "../../../contract/notify.ts";
import type { StoredRunWebhook } from "../../../contract/webhook.ts";
import type { RunError, RunNote, RunStatus } from "../../../contract/run.ts";
import type { UsageByModel } from "../../../contract/usage/usage-schemas.ts";
import type { TokensByModel } from "../../../contract/usage/model-usage.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import type { StoredSpans } from "../../../telemetry/spans/stored-spans.ts";
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

/** The knowledge about the cause of a run's interruptions. */
export interface Suspicion {
  /** True if the next interruption counts against the run: it executes code of its own, or no other run does. */
  readonly counts: boolean;
  /** Interruptions since its last progress that did not count. */
  readonly uncounted: number;
  /** The last step with code of its own: its key, and the name of its tool. */
  readonly step?: { key: string; name: string | null };
}

/** The stored record of a run, written when its status changes. Times are ISO 8601 UTC unless noted. */
export interface RunRecord {
  readonly id: string;
  readonly status: RunStatus;
  readonly output_task_messages: boolean;
  /** For whom it is; missing for no user. */
  readonly user?: string;
  /** The name or subject of the credential that started it; missing in runs of earlier versions, and where it has none. */
  readonly subject?: string;
  /** The number of runs before it in the chain of requests that led to it; missing for none. */
  readonly hops?: number;
  readonly metadata: JsonObject;
  readonly timeout_seconds: number | null;
  readonly max_total_tokens: number | null;
  /** Cost in the currency of the prices. Missing in runs of versions without it. */
  readonly max_cost?: number | null;
  readonly retry_of: string | null;
  /** The first turn: 0, or for a retry the turn that failed. */
  readonly first_turn: number;
  /** Prefix of the first turn's ids and keys; a retry keeps those of the run it repeats. */
  readonly first_turn_id: string;
  readonly first_moment: Moment;
  /** Milliseconds of running of the retried run; the retry's own time limit does not count them. */
  readonly ran_before: number;
  /** For a retry: the tokens of the reused steps, which the retried run has counted. */
  readonly taken_over: { tokens?: TokensByModel } | null;
  /** Tokens of recorded model calls of this turn that must run again, and the spans of such steps. */
  readonly discarded?: { turn: number; tokens: TokensByModel; spans?: StoredSpans };
  /** That of the team when the run started. Missing in queued runs and in runs of earlier versions. */
  readonly component_version?: number;
  /** The team's epoch; a retry after a reset would find another conversation. */
  readonly epoch: number;
  /** The cursor before the run's first event, and the cursor of its terminal event. */
  readonly first_event: number;
  readonly last_event: number | null;
  /** Value at the last change of status. */
  readonly next_turn: number;
  /** The team's last finished turn at the last change of status. */
  readonly turn: number;
  /** For an ended run: when the turn in which it ended began. */
  readonly last_turn: {
    started: Moment;
    /** Spans of a turn that was given up, because no commit has them. */
    spans?: StoredSpans;
  } | null;
  /** Milliseconds of running. */
  readonly ran: number;
  /** Tokens of all its model calls at the last change of status. */
  readonly usage: RequestUsage;
  /** The run's tokens by model. Missing in runs of versions that did not count by model. */
  readonly models?: UsageByModel;
  readonly stop_requested: "after_turn" | "now" | null;
  readonly pause_requested: boolean;
  /** True if the run was resumed and the agents' resume hooks have not run yet. */
  readonly resuming: boolean;
  /** When a long backoff ends, epoch milliseconds; nothing runs until then. */
  readonly wake_at: number | null;
  /** Since when the run has been idle for that reason alone, epoch milliseconds: its status is still `running`. */
  readonly rest_since: number | null;
  readonly recoveries: number;
  /** Missing unless the run was interrupted repeatedly without progress, see suspect.ts. */
  readonly suspicion?: Suspicion;
  /**
   * The number of times that the run has resumed after an interruption or an idle wait since the event with that cursor;
   * missing before the first time.
   */
  readonly restarts?: { after: number; count: number };
  /** Missing in runs of earlier versions. */
  readonly trace?: RunTraceRecord;
  /** The progress at the last recovery, see recovery-budget.ts. */
  readonly recovery_mark: string | null;
  readonly stop_reason: string | null;
  /** Runs that failed in earlier versions have fewer fields. */
  readonly error:
    | (Pick<RunError, "type" | "message"> & Partial<Omit<RunError, "type" | "message">>)
    | null;
  /** Missing if the run has none. */
  readonly notes?: RunNote[];
  /** Tools of the client; missing if it has none. */
  readonly tools?: readonly ToolSchema[];
  /** The format in which the client wants the answer; missing if it did not say. */
  readonly answer_form?: AnswerForm;
  /** Members of the shared state that the client has set; missing if there are none. */
  readonly state?: JsonObject;
  /** Missing in runs of earlier versions. */
  readonly webhook?: StoredRunWebhook | null;
  /** Receivers of messages; missing if the run has none of its own. */
  readonly notify?: readonly StoredReceiver[];
  /** Missing if the run has none. */
  readonly push?: readonly SecretPushConfig[];
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** A run and the number of its row; 0 if it has not started. */
export interface StoredRun {
  seq: number;
  record: RunRecord;
}
