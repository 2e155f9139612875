import type { ComponentModel } from "../core/component/component.ts";
import type { Issue } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { ChatMessage, Message } from "../core/messages/message.ts";
import type { RequestUsage } from "../core/models/llm-messages.ts";
import type { Question } from "../core/run/turn-context.ts";

export type TeamStatus = "idle" | "running" | "waiting" | "paused";
export type RunStatus =
  | "queued"
  | "running"
  | "waiting"
  | "paused"
  | "completed"
  | "cancelled"
  | "failed";

/** A team as the API shows it; secrets in `component` are redacted. Times are ISO 8601 UTC. */
export interface TeamInfo {
  id: string;
  label: string | null;
  metadata: JsonObject;
  component: ComponentModel;
  /** Counts replacements of the component, from 1. */
  component_version: number;
  status: TeamStatus;
  active_run: string | null;
  usage: RequestUsage;
  /** The last finished turn of the team's life, 0 before the first: what {@link TeamGateway.fork} forks at. */
  turn: number;
  /** Where its conversation comes from, if it is a fork. */
  forked_from: { team_id: string; turn: number } | null;
  created_at: string;
  updated_at: string;
}

/** What was said before a question, as far as it fits. */
export interface RequestContext {
  /** Oldest first. */
  messages: Message[];
  /** Whether earlier messages were left out, or a long text cut. */
  truncated: boolean;
}

/** An open question as the API shows it. */
export type HumanRequest = Omit<Question, "timeout_seconds" | "default_answer"> & {
  context: RequestContext;
  created_at: string;
  expires_at: string | null;
};

/** Why a run failed, and where. */
export interface RunError {
  /** Stable code, snake_case. */
  type: string;
  message: string;
  /** The innermost agent that threw; null for the team's manager, limits and the service itself. */
  agent: string | null;
  /** The turn of the team's life that failed. */
  turn: number | null;
  /** Path of the step that threw, below its turn; null where none did. */
  step: string | null;
}

export interface RunInfo {
  id: string;
  team_id: string;
  status: RunStatus;
  task: Json;
  stop_reason: string | null;
  error: RunError | null;
  usage: RequestUsage;
  /** Committed turns, turn 0 not counted. */
  turns: number;
  /** The team's last finished turn, as this run found or left it. */
  turn: number;
  requests: HumanRequest[];
  retry_of: string | null;
  metadata: JsonObject;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** Only when one run is asked for: all messages, or null above 1 MB. */
  result?: { stop_reason: string | null; messages: Message[] } | null;
}

/** A refusal as data: errors thrown across a Durable Object boundary lose their fields. */
export interface Problem {
  /** HTTP status of RFC 9457. */
  status: number;
  /** Stable, snake_case. */
  code: string;
  detail: string;
  errors?: Issue[];
  /** Seconds, for 429 and 503. */
  retry_after?: number;
  /** Further members of the problem document, for example the busy team's `run_id`. */
  extra?: JsonObject;
}

export type Result<T> = { ok: true; value: T } | { ok: false; problem: Problem };

export interface CreateTeamInput {
  id: string;
  label: string | null;
  metadata: JsonObject;
  component: ComponentModel;
  /** Of the request's `Idempotency-Key` and body, if there was one: the same pair answers the same thing. */
  idempotency?: Idempotency;
}

export interface ForkTeamInput {
  /** Of the new team. */
  id: string;
  /** Null: the last finished turn. */
  turn: number | null;
  idempotency?: Idempotency;
}

export interface Idempotency {
  key: string;
  /** Of the body; the same key with another hash is refused with 422. */
  hash: string;
}

export interface StartRunInput {
  /** Checked chat messages without ids or times where the client gave none; null continues. */
  task: readonly (Partial<ChatMessage> & { type: string; source: string })[] | null;
  output_task_messages: boolean;
  on_conflict: "reject" | "interrupt";
  timeout_seconds: number | null;
  max_total_tokens: number | null;
  metadata: JsonObject;
  idempotency?: Idempotency;
}

export interface MessagePage {
  /** `turn`: the turn of the team's life it was said in; the one after the last finished turn is still in progress. */
  messages: ({ seq: number; turn: number } & Message)[];
  /** Pass as `after`; null at the end. */
  next_after: number | null;
  /** Pass as `before`; null at the beginning. */
  next_before: number | null;
}

export interface RunPage {
  runs: RunInfo[];
  next_cursor: string | null;
}

/** SSE bytes as docs/http-api.md describes them, ready to send; `done` when a run is over and nothing is left to send. */
export type OpenedStream = { body: ReadableStream<Uint8Array> } | { done: true };

/** What a stream shows: one run up to its end, or the whole life of a team. */
export interface StreamInput {
  run: string | null;
  /** Send recorded items after this cursor. */
  after: number;
}

/**
 * One team, as the HTTP layer and the protocols see it. Implemented over Durable Object RPC. Asking for a team that
 * does not exist gives `team_not_found` and writes nothing.
 */
export interface TeamGateway {
  create(input: CreateTeamInput): Promise<Result<TeamInfo>>;
  team(): Promise<Result<TeamInfo>>;
  replaceComponent(component: ComponentModel): Promise<Result<TeamInfo>>;
  /** Stops the run and erases everything stored, alarm included. */
  destroy(): Promise<Result<null>>;
  reset(): Promise<Result<TeamInfo>>;
  saveState(): Promise<Result<JsonObject>>;
  loadState(state: JsonObject): Promise<Result<null>>;
  messages(page: { after?: number; before?: number; limit: number }): Promise<Result<MessagePage>>;
  /** A new team with this one's component and its conversation up to the end of a finished turn. */
  fork(input: ForkTeamInput): Promise<Result<TeamInfo>>;

  /** `created` is false when an idempotency key answered with an earlier run. */
  startRun(input: StartRunInput): Promise<Result<RunInfo & { created: boolean }>>;
  run(id: string): Promise<Result<RunInfo>>;
  runs(page: { cursor?: string; limit: number }): Promise<Result<RunPage>>;
  /** Resolves when the run has ended, waits for a human or is paused, or after `timeoutMs`. */
  waitForRun(id: string, timeoutMs: number): Promise<Result<RunInfo>>;
  /** `repeated`: it had been asked for before. */
  stopRun(id: string, mode: "after_turn" | "now"): Promise<Result<RunInfo & { repeated: boolean }>>;
  pauseRun(id: string): Promise<Result<RunInfo>>;
  resumeRun(id: string): Promise<Result<RunInfo>>;
  /** The same request again answers with the run it started. */
  retryRun(id: string, idempotency?: Idempotency): Promise<Result<RunInfo>>;
  requests(run: string): Promise<Result<HumanRequest[]>>;
  answer(run: string, request: string, answer: JsonObject): Promise<Result<RunInfo>>;

  stream(input: StreamInput): Promise<Result<OpenedStream>>;
  /** Starts a run and opens its stream in one go, so that not even the first piece of text is missed. */
  startStream(input: StartRunInput): Promise<Result<OpenedStream & { run: string }>>;
}

/** Finds teams by id; the object's name is made of tenant and id. */
export interface Gateway {
  team(tenant: string, id: string): TeamGateway;
}
