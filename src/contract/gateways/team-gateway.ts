import type { Caller } from "../directory.ts";
import type { Idempotency } from "../common.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { AnswerForm, ToolSchema } from "../../core/models/chat-completion-client.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import type { TurnPage, TurnQuery } from "../turn.ts";
import type { TraceContext } from "../../core/steps/step-attempt.ts";
import type { LoginOfQuestion } from "../../core/turn/turn-context.ts";
import type { LoginSight } from "./login-sight.ts";
import type { ObjectCalls } from "../commands/command.ts";
import type { TeamCommands } from "../commands/commands.ts";
import type { Result } from "../result.ts";
import type { MemoryCalls } from "./memory-gateway.ts";
import type { StateGateway } from "./state-gateway.ts";
import type { PushConfig, SecretPushConfig } from "../push.ts";
import type { Approver } from "./approver.ts";
import type { AnsweredRun, HumanRequest, RunInfo } from "../run.ts";
import type { GivenReceivers, StoredReceiver } from "../notify.ts";
import type { ScheduleInfo } from "../team/schedule.ts";
import type { VersionWithComponent } from "../team/version.ts";
import type { MessagePage, MessageQuery, TeamInfo } from "../team.ts";
import type { RunWebhook } from "../webhook.ts";

export interface CreateTeamInput {
  id: string;
  label: string | null;
  metadata: JsonObject;
  component: ComponentModel;
  /** The caller that creates it. */
  by?: string | undefined;
  /** The user to whom it belongs. */
  user?: string | undefined;
  /** Seconds without a run after which the team erases itself. Left out, it stays. */
  expires_in?: number;
  /** Hash of the request's `Idempotency-Key`, if it has one: the same key and body get the same answer. */
  idempotency?: Idempotency;
}

/** Data that a conversation gets from its team. The secrets of the component stay sealed. */
export interface ConversationModel extends Pick<TeamInfo, "label" | "metadata" | "component"> {
  agent: string;
}

/** A conversation that belongs to one caller. */
export interface CreateConversationInput extends Caller {
  /** Id of the team that the conversation is with. */
  id: string;
  /** The caller's own id of the conversation. */
  context?: string | undefined;
  /** The user to whom it belongs. */
  user?: string | undefined;
  /** Seconds without a run after which the conversation erases itself. */
  expires_in: number;
}

export interface ForkTeamInput {
  /** Id of the new team. */
  id: string;
  /** Null: the last finished turn. */
  turn: number | null;
  /** The caller that forks it. */
  by?: string | undefined;
  /** Left out, those of the team. */
  label?: string | null | undefined;
  metadata?: JsonObject | undefined;
  idempotency?: Idempotency;
}

/** A change of a team's component. */
export interface ReplaceOptions {
  /** The caller that makes it. */
  by?: string | undefined;
  /** The versions that it may replace, as `If-Match` has them. Default: any. */
  versions?: readonly string[] | undefined;
}

/** The format of a client's stream: its name, and options from the client's request. */
export interface StreamFormat {
  name: string;
  /** JSON of at most a few kilobytes. */
  options: JsonObject;
}

export interface StartRunInput {
  /** Checked chat messages without ids or times where the client gave none; null continues. */
  task: readonly (Partial<ChatMessage> & { type: string; source: string })[] | null;
  /** The text that goes into an active run in place of the task of an event, whose files belong to a new run. */
  message?: string;
  output_task_messages: boolean;
  on_conflict: "reject" | "queue" | "interrupt" | "steer";
  timeout_seconds: number | null;
  max_total_tokens: number | null;
  /** In the currency of the prices. */
  max_cost: number | null;
  /** For whom it is, as the credential of the request allows. */
  user?: string | undefined;
  /** The name or subject of the credential of the request. */
  subject?: string | undefined;
  metadata: JsonObject;
  webhook: RunWebhook | null;
  /** Receivers of messages about the run, those of the team aside. */
  notify?: readonly StoredReceiver[];
  /** Push notification config of the run, in a protocol's format. */
  push?: SecretPushConfig;
  /** Tools of the client: calls of them become requests of the kind `tool`. Names are unique. */
  tools?: readonly ToolSchema[];
  /** Members of the state that the team's agents share with the client's page, as the client has set them. */
  state?: JsonObject;
  /** The format in which the client wants the answer. */
  answer_form?: AnswerForm;
  /** The caller's trace context, which the run continues. */
  trace?: TraceContext;
  /** The number of runs before it in the chain of requests that led to it; left out for none. */
  hops?: number;
  idempotency?: Idempotency;
}

/** A message into a run. */
export interface RunMessageInput {
  content: string;
  /** The name of an agent or an inner team, or a path; undefined for everybody. */
  to?: string | undefined;
}

/** The run options of a schedule. */
export type ScheduledRun = Omit<
  StartRunInput,
  "message" | "idempotency" | "webhook" | "push" | "tools" | "answer_form" | "trace" | "hops"
>;

/** The receivers of a schedule's runs, which its object seals. */
interface WithReceivers {
  notify?: GivenReceivers;
}

export interface CreateScheduleInput
  extends Omit<ScheduledRun, "notify">, ScheduleTimes, WithReceivers {
  /** Generated if left out. */
  id?: string;
  enabled: boolean;
  idempotency?: Idempotency;
}

/** Fields that are left out stay as they are. */
export interface ScheduleChanges
  extends Partial<Omit<ScheduledRun, "notify">>, ScheduleTimes, WithReceivers {
  enabled?: boolean;
}

/** Not both `cron` and `at`. */
export interface ScheduleTimes {
  cron?: string;
  /** The IANA time zone of `cron`. */
  timezone?: string;
  /** ISO 8601 with its offset. */
  at?: string;
}

/** SSE bytes in the format that was asked for, ready to send; `done` when a run is over and nothing is left to send. */
export type OpenedStream = { body: ReadableStream<Uint8Array> } | { done: true };

/** `created` is false when an idempotency key answered with an earlier run. */
export type StartedStream = OpenedStream & { run: string; created: boolean };

/** The range of a stream: one run up to its end, or the whole life of a team. */
export interface StreamInput {
  run: string | null;
  /** Send recorded items after this cursor. */
  after: number;
  /** Default: the frames of docs/http-api.md. */
  format?: StreamFormat;
}

/**
 * The names under which protocols store data with a team: the place of a chat, and a conversation's items that no run has.
 */
export const PROTOCOL_NAMES = ["ai_sdk_chat", "openai_chat", "openai_conversation"] as const;
export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** A change of what a protocol keeps, which the team makes in one step. */
export interface KeptChange {
  /** Fields that are replaced. */
  set?: JsonObject;
  /** Added to the field `items`. Each entry has an id. */
  add?: JsonObject[];
  /** Ids of entries of `items` that are removed. */
  remove?: string[];
  /** Bytes of `items` as JSON, above which nothing is changed. */
  mostBytes?: number;
}

/** The caller that answers. */
export interface Answering {
  /** The name or subject of its credential. */
  by?: string | null;
  /** Left out, no rule names the caller. */
  approver?: Approver;
}

/**
 * Answers to questions of a run: all of them are taken, or none.
 */
export interface AnswersInput extends Answering {
  run: string;
  answers: readonly {
    request: string;
    answer: JsonObject;
    /** The answer is left out where the question is no longer open, instead of all answers being refused. */
    if_open?: boolean;
  }[];
}

/** The client that opens streams. */
export interface StreamCaller {
  /** The same for all requests with one credential. */
  credential: string;
  /** Aborted when the client has left. */
  signal?: AbortSignal;
  /** The logins whose addresses it may be given. Left out, none. */
  sees?: LoginSight;
  /** The user whose teams it may reach; left out, all. */
  team_user?: string;
}

/** The claims of a team token. */
export interface TokenOfTeam {
  creation: string;
  /** Null for a token of an earlier version. */
  id: string | null;
  /** Epoch milliseconds. */
  made_at: number;
}

/**
 * One team, as the HTTP layer and the protocols see it: its commands, and the calls from which other commands are
 * composed. Implemented over Durable Object RPC. A call for a team that does not exist gives `team_not_found` and
 * writes nothing.
 */
export interface TeamGateway extends ObjectCalls<TeamCommands, "team">, StateGateway, MemoryCalls {
  create(input: CreateTeamInput): Promise<Result<TeamInfo>>;
  team(): Promise<Result<TeamInfo>>;
  replaceComponent(component: ComponentModel, options?: ReplaceOptions): Promise<Result<TeamInfo>>;
  /** A version with its secrets sealed, as they are stored. */
  sealedVersion(version: string): Promise<Result<VersionWithComponent>>;
  /** Makes the component of a version the team's again. */
  restoreVersion(version: string, options?: ReplaceOptions): Promise<Result<TeamInfo>>;
  /**
   * Stops the run and erases everything stored, including the alarm. A team whose data could not be read does not
   * report its deletion to the tenant. Answers `team_unreadable` if the object itself cannot be started.
   */
  destroy(): Promise<Result<{ reported: boolean }>>;
  /**
   * Restarts the object with its data of a moment, whether or not it holds a team now.
   *
   * @param time epoch milliseconds
   */
  recover(time: number): Promise<Result<null>>;
  /** Differs for every team that was ever created, also under the same id: what team tokens are bound to. */
  creation(): Promise<Result<string>>;
  /** True if a token of this team was revoked, or is for an earlier team with its id. */
  isRevoked(token: TokenOfTeam): Promise<boolean>;
  /**
   * Waits until a token of this team is revoked. The team is not kept in memory meanwhile.
   *
   * @returns whether it was; false when the team was restarted, or the signal aborts
   */
  tokenEnds(token: TokenOfTeam, signal: AbortSignal): Promise<boolean>;
  /**
   * Revokes a team token.
   *
   * @param id null: all tokens created so far
   * @param end when the token expires, epoch milliseconds; undefined if that is not known
   */
  revokeTokens(id: string | null, end?: number): Promise<Result<null>>;
  /** The team's name at the sandbox: random, and never shown to clients. */
  session(): Promise<Result<string>>;
  reset(): Promise<Result<TeamInfo>>;
  /**
   * The team's visible state as of its last turn (`Runnable.visibleState`), with what its agents share with the page of their
   * user as `shared_state`; or `{}`.
   */
  visibleState(): Promise<Result<JsonObject>>;
  messages(query: MessageQuery): Promise<Result<MessagePage>>;
  turns(query: TurnQuery): Promise<Result<TurnPage>>;
  /** A new team with this one's component and its conversation up to the end of a finished turn. */
  fork(input: ForkTeamInput): Promise<Result<TeamInfo>>;
  /** The data that a protocol stores with the team under a name of its own; null for nothing. A reset removes it. */
  kept(name: ProtocolName): Promise<Result<JsonObject | null>>;
  keep(name: ProtocolName, value: JsonObject): Promise<Result<null>>;
  /**
   * Changes what a protocol keeps, so that of two changes at the same time none is lost.
   *
   * @param initial what the change applies to where nothing is kept
   * @returns what is kept now, and the bytes that its `items` have or would have had
   */
  amend(
    name: ProtocolName,
    initial: JsonObject,
    change: KeptChange,
  ): Promise<Result<{ value: JsonObject; changed: boolean; bytes: number }>>;
  /**
   * Gives a team that is erased after a while without a run at least this many seconds. A team that stays is left as it is.
   */
  keepFor(seconds: number): Promise<Result<null>>;
  /** The data from which a conversation with this team is created. */
  conversationModel(): Promise<Result<ConversationModel>>;
  /** Creates an empty conversation with another team of the tenant. A repeated call with the same id finds it. */
  createConversation(
    input: CreateConversationInput,
    model: ConversationModel,
  ): Promise<Result<TeamInfo>>;
  /** The caller's own id of the conversation that this team is; null where the caller uses the team's. */
  conversationContext(): Promise<Result<string | null>>;

  /** `created` is false when an idempotency key answered with an earlier run. */
  startRun(input: StartRunInput): Promise<Result<RunInfo & { created: boolean }>>;
  run(id: string): Promise<Result<RunInfo>>;
  /** Resolves when the run has ended, waits for a human or is paused, or after `timeoutMs`; not while it is queued. */
  waitForRun(id: string, timeoutMs: number): Promise<Result<RunInfo>>;
  /** Gives a queued run another task. */
  changeRun(id: string, task: StartRunInput["task"]): Promise<Result<RunInfo>>;
  /** Sends a message into a run that is active or queued. */
  steerRun(
    run: string,
    message: RunMessageInput,
    idempotency?: Idempotency,
  ): Promise<Result<{ id: string }>>;
  /** `repeated`: it was requested before. */
  stopRun(id: string, mode: "after_turn" | "now"): Promise<Result<RunInfo & { repeated: boolean }>>;
  requests(run: string): Promise<Result<HumanRequest[]>>;
  /** The logins that open questions of a run ask for, by the ids of the questions. Not for clients. */
  loginsOf(run: string): Promise<Result<Record<string, LoginOfQuestion>>>;
  answer(
    run: string,
    request: string,
    answer: JsonObject,
    answering?: Answering,
  ): Promise<Result<AnsweredRun>>;
  answers(input: AnswersInput): Promise<Result<AnsweredRun>>;

  /**
   * Adds a push notification config to a run, or replaces the one with this id. A finished run sends no more
   * notifications.
   */
  putPushConfig(run: string, config: SecretPushConfig): Promise<Result<null>>;
  pushConfigs(run: string): Promise<Result<PushConfig[]>>;
  /** Deletes a config, if it exists, and its pending notifications. */
  deletePushConfig(run: string, id: string): Promise<Result<null>>;

  createSchedule(input: CreateScheduleInput): Promise<Result<ScheduleInfo>>;
  changeSchedule(id: string, changes: ScheduleChanges): Promise<Result<ScheduleInfo>>;

  stream(input: StreamInput): Promise<Result<OpenedStream>>;
  /** Starts a run and opens its stream in one call, so that no chunk of text is missed. */
  startStream(input: StartRunInput, format?: StreamFormat): Promise<Result<StartedStream>>;
  /** Gives answers to a run and opens its stream at once, so that the stream misses nothing that follows them. */
  continueRun(input: AnswersInput, stream: Omit<StreamInput, "run">): Promise<Result<OpenedStream>>;
}

/** Calls of a team that may be made twice: they read, or change nothing the second time. */
export const REPEATABLE_TEAM_CALLS = [
  "team",
  "creation",
  "isRevoked",
  "revokeTokens",
  "session",
  "visibleState",
  "messages",
  "findMessages",
  "turns",
  "versions",
  "version",
  "sealedVersion",
  "kept",
  "keep",
  "keepFor",
  "conversationModel",
  "conversationContext",
  "run",
  "runs",
  "request",
  "runTrace",
  "modelRequest",
  "waitForRun",
  "requests",
  "loginsOf",
  "decisions",
  "approvals",
  "putPushConfig",
  "pushConfigs",
  "tasks",
  "schedules",
  "schedule",
  "saveState",
  "stagedState",
  "memories",
  "searchMemories",
  "memory",
] as const satisfies readonly (keyof TeamGateway)[];

/** Finds teams by id. The object's name consists of tenant and id. */
export interface Gateway {
  /** @param caller the client that opens streams */
  team(tenant: string, id: string, caller?: StreamCaller): TeamGateway;
}
