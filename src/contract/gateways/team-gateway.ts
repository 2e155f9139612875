import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AnswerForm, ToolSchema } from "../../core/models/chat-completion-client.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { TraceContext } from "../../core/run/turn-context.ts";
import type { Result } from "../result.ts";
import type { StateGateway } from "./state-gateway.ts";
import type { PushConfig, SecretPushConfig } from "../webhooks/push.ts";
import type { HumanRequest, RunInfo, RunPage } from "../run.ts";
import type { ScheduleInfo, SchedulePage } from "../schedule.ts";
import type { MessagePage, MessageQuery, TeamInfo } from "../team.ts";
import type { StreamFormat } from "../stream/stream-format.ts";
import type { RunTrace } from "../trace.ts";
import type { RunWebhook } from "../webhooks/webhook.ts";

export interface CreateTeamInput {
  id: string;
  label: string | null;
  metadata: JsonObject;
  component: ComponentModel;
  /** Seconds without a run after which the team erases itself. Left out, it stays. */
  expires_in?: number;
  /** Of the request's `Idempotency-Key`, if it has one: the same key and body get the same answer. */
  idempotency?: Idempotency;
}

/** What a conversation gets from the team that it is with. The secrets of the component are sealed, and stay so. */
export interface ConversationModel extends Pick<TeamInfo, "label" | "metadata" | "component"> {
  agent: string;
}

/** A conversation that one caller has alone. */
export interface CreateConversationInput extends Caller {
  /** Of the team that the conversation is. */
  id: string;
  /** Seconds without a run after which it erases itself. */
  expires_in: number;
}

/** Whose a conversation is. */
export interface Caller {
  /** Tells the caller from others of the tenant. Never shown. */
  owner: string;
  /** What the caller is called. */
  caller: string | null;
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
  /** Hash of the body; the same key with another hash is refused with 422. */
  hash: string;
}

export interface StartRunInput {
  /** Checked chat messages without ids or times where the client gave none; null continues. */
  task: readonly (Partial<ChatMessage> & { type: string; source: string })[] | null;
  output_task_messages: boolean;
  on_conflict: "reject" | "queue" | "interrupt";
  timeout_seconds: number | null;
  max_total_tokens: number | null;
  /** In the currency of the prices. */
  max_cost: number | null;
  metadata: JsonObject;
  webhook: RunWebhook | null;
  /** Told of the run in the words of a protocol. */
  push?: SecretPushConfig;
  /** Tools of the client: calls of them become requests of the kind `tool`. Names are unique. */
  tools?: readonly ToolSchema[];
  /** How the client wants to be answered. */
  answer_form?: AnswerForm;
  /** The caller's trace, which the run's continues. */
  trace?: TraceContext;
  idempotency?: Idempotency;
}

/** What a schedule starts its runs with. */
export type ScheduledRun = Omit<
  StartRunInput,
  "idempotency" | "webhook" | "push" | "tools" | "answer_form" | "trace"
>;

export interface CreateScheduleInput extends ScheduledRun, ScheduleTimes {
  /** Left out, one is made. */
  id?: string;
  enabled: boolean;
  idempotency?: Idempotency;
}

/** Fields that are left out stay as they are. */
export interface ScheduleChanges extends Partial<ScheduledRun>, ScheduleTimes {
  enabled?: boolean;
}

/** Not both `cron` and `at`. */
export interface ScheduleTimes {
  cron?: string;
  /** Of `cron`: an IANA time zone. */
  timezone?: string;
  /** ISO 8601 with its offset. */
  at?: string;
}

/** SSE bytes in the format that was asked for, ready to send; `done` when a run is over and nothing is left to send. */
export type OpenedStream = { body: ReadableStream<Uint8Array> } | { done: true };

/** `created` is false when an idempotency key answered with an earlier run. */
export type StartedStream = OpenedStream & { run: string; created: boolean };

/** What a stream shows: one run up to its end, or the whole life of a team. */
export interface StreamInput {
  run: string | null;
  /** Send recorded items after this cursor. */
  after: number;
  /** Default: the frames of docs/http-api.md. */
  format?: StreamFormat;
}

/** Who opens streams. */
export interface StreamCaller {
  /** The same for all requests with one credential. */
  credential: string;
  /** Aborted when the client has left. */
  signal?: AbortSignal;
}

/** What a team token says of itself. */
export interface TokenOfTeam {
  creation: string;
  /** Null for a token of an earlier version. */
  id: string | null;
  /** Epoch milliseconds. */
  made_at: number;
}

/**
 * One team, as the HTTP layer and the protocols see it. Implemented over Durable Object RPC. Asking for a team that
 * does not exist gives `team_not_found` and writes nothing.
 */
export interface TeamGateway extends StateGateway {
  create(input: CreateTeamInput): Promise<Result<TeamInfo>>;
  team(): Promise<Result<TeamInfo>>;
  replaceComponent(component: ComponentModel): Promise<Result<TeamInfo>>;
  /**
   * Stops the run and erases everything stored, alarm included. A team whose data could not be read has told its tenant
   * nothing; `team_unreadable` where not even its object can be started.
   */
  destroy(): Promise<Result<{ told: boolean }>>;
  /** Differs for every team that was ever created, also under the same id: what team tokens are bound to. */
  creation(): Promise<Result<string>>;
  /** Whether a token of this team was revoked, or is for an earlier team with its id. */
  isRevoked(token: TokenOfTeam): Promise<boolean>;
  /** Revokes a team token. @param id null: all that were made until now */
  revokeTokens(id: string | null): Promise<Result<null>>;
  /** The team's name at the sandbox: random, and not for clients. */
  session(): Promise<Result<string>>;
  reset(): Promise<Result<TeamInfo>>;
  saveState(): Promise<Result<JsonObject>>;
  loadState(state: JsonObject): Promise<Result<null>>;
  /** What the team shows of its state, as of its last turn (`Runnable.visibleState`): `{}` where it shows nothing. */
  visibleState(): Promise<Result<JsonObject>>;
  messages(query: MessageQuery): Promise<Result<MessagePage>>;
  /** A new team with this one's component and its conversation up to the end of a finished turn. */
  fork(input: ForkTeamInput): Promise<Result<TeamInfo>>;
  /** What a conversation with this team is made from. */
  conversationModel(): Promise<Result<ConversationModel>>;
  /** Makes a conversation with another team of the tenant, with nothing said yet. The same id again finds it. */
  createConversation(
    input: CreateConversationInput,
    model: ConversationModel,
  ): Promise<Result<TeamInfo>>;

  /** `created` is false when an idempotency key answered with an earlier run. */
  startRun(input: StartRunInput): Promise<Result<RunInfo & { created: boolean }>>;
  run(id: string): Promise<Result<RunInfo>>;
  runs(page: { cursor?: string; limit: number }): Promise<Result<RunPage>>;
  /** What the run did so far. @param page how many turns */
  runTrace(run: string, page: { cursor?: string; limit: number }): Promise<Result<RunTrace>>;
  /** Resolves when the run has ended, waits for a human or is paused, or after `timeoutMs`; not while it is queued. */
  waitForRun(id: string, timeoutMs: number): Promise<Result<RunInfo>>;
  /** `repeated`: it had been asked for before. */
  stopRun(id: string, mode: "after_turn" | "now"): Promise<Result<RunInfo & { repeated: boolean }>>;
  pauseRun(id: string): Promise<Result<RunInfo>>;
  resumeRun(id: string): Promise<Result<RunInfo>>;
  /** The same request again answers with the run it started. */
  retryRun(id: string, idempotency?: Idempotency): Promise<Result<RunInfo>>;
  requests(run: string): Promise<Result<HumanRequest[]>>;
  answer(run: string, request: string, answer: JsonObject): Promise<Result<RunInfo>>;

  /** Adds a push notification config to a run, or replaces the one with this id. A run that is over tells nothing more. */
  putPushConfig(run: string, config: SecretPushConfig): Promise<Result<null>>;
  pushConfigs(run: string): Promise<Result<PushConfig[]>>;
  /** Nothing happens where there is no such config. What it was not told yet is not sent any more. */
  deletePushConfig(run: string, id: string): Promise<Result<null>>;

  createSchedule(input: CreateScheduleInput): Promise<Result<ScheduleInfo>>;
  schedules(page: { cursor?: string; limit: number }): Promise<Result<SchedulePage>>;
  schedule(id: string): Promise<Result<ScheduleInfo>>;
  changeSchedule(id: string, changes: ScheduleChanges): Promise<Result<ScheduleInfo>>;
  deleteSchedule(id: string): Promise<Result<null>>;
  /** Starts a run of the schedule now; its occurrences stay as they are. */
  runSchedule(id: string, idempotency?: Idempotency): Promise<Result<RunInfo>>;

  stream(input: StreamInput): Promise<Result<OpenedStream>>;
  /** Starts a run and opens its stream at once, so that not even the first chunk of text is missed. */
  startStream(input: StartRunInput, format?: StreamFormat): Promise<Result<StartedStream>>;
}

/** Finds teams by id; the object's name is made of tenant and id. */
export interface Gateway {
  /** @param caller of its streams */
  team(tenant: string, id: string, caller?: StreamCaller): TeamGateway;
}
