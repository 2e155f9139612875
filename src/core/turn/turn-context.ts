import type { JsonObject } from "../json.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import type { TaskFile } from "../messages/task-files.ts";
import type { MemoryHost } from "../memory/memory-host.ts";
import type {
  AnswerForm,
  ChatCompletionClient,
  CreateOptions,
  ToolSchema,
} from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { StepAttempt, StepKind, StepPolicy, StepSubject } from "../steps/step-attempt.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { Approval } from "../rules/approval-rule.ts";
import type { RunContext } from "./run-context.ts";

/** The subject of a scope, for traces: an agent, or a tool that runs agents. */
export interface ScopeSubject {
  kind: "agent" | "tool";
  name: string;
}

/** The request of a model call, before its client writes it for a server. */
export interface RequestOfStep {
  client: ChatCompletionClient;
  messages: readonly LLMMessage[];
  options: CreateOptions;
  streamed: boolean;
}

/** An estimate of a model call's usage, before it is made. */
export interface CallEstimate {
  /** Undefined for a client that does not name its model. */
  model: string | undefined;
  prompt_tokens: number;
  /** The most tokens of the answer; undefined if the request has no limit. */
  completion_tokens: number | undefined;
}

export interface StepOptions<T> {
  /** Default `effect`. */
  kind?: StepKind | undefined;
  /** Default `retry`. */
  policy?: StepPolicy | undefined;
  /** Shown in traces; nothing depends on it. */
  subject?: StepSubject | undefined;
  /**
   * True if the effect waits for another service and executes no code of the agent or the tool. Such a step is not the
   * cause when the process ends. Default false; true for the kind `model`.
   */
  remote?: boolean | undefined;
  /**
   * The input of a model. Called only for traces that hold contents, and to estimate the tokens of an interrupted call.
   */
  input?: (() => readonly LLMMessage[]) | undefined;
  /** The request of a model call. Called only by hosts that show requests instead of making them. */
  request?: ((attempt: StepAttempt) => RequestOfStep) | undefined;
  /**
   * The usage that the model call may reach. Called only by hosts that limit what a run may use. Without it nothing is
   * reserved for the call.
   */
  estimate?: (() => Promise<CallEstimate>) | undefined;
  /**
   * Identifies the request; a recorded result is used again only for the same fingerprint. A function for one that takes
   * time to make: it is called at most once, and not by hosts that record nothing.
   */
  fingerprint?: (string | (() => string)) | undefined;
  /**
   * True for a model call that a message into the run cuts as long as nothing has arrived: it throws an error with the code
   * `steered`, and the caller reads what has come and asks again under another key. Default false.
   */
  steerable?: boolean | undefined;
  /** The retry policy for errors that another attempt may resolve. Default: two minutes while a server is away. */
  retry?(error: unknown): RetryPolicy | undefined;
  /**
   * The step's result when its last attempt failed with an error that another one might have resolved. Without it the
   * step throws the error.
   */
  exhausted?(error: unknown): T;
  /** Called instead of the effect when a recorded result is used. */
  onReplay?(result: T): void;
  /** The step's result when its outcome is unknown (`never`) or was refused (`ask`). Without it the step throws. */
  unknownOutcome?(message: string): T;
}

export interface StreamStepOptions<T> extends StepOptions<T> {
  /** Id of the message whose text streams: clients discard the text when the call is made again. */
  messageId?: string | undefined;
  /** True if the text is certain to be that message. Otherwise it may be a thought before calls of tools. Default false. */
  isAnswer?: boolean | undefined;
}

/** A tool call that needs approval, or that the client makes. */
export interface ToolCallQuestion {
  /** The arguments as the model wrote them. */
  name: string;
  arguments: JsonObject;
  /** The model's id of the call; models repeat them. */
  callId?: string;
  /** A JSON Schema that arguments edited by a human must match. */
  parameters?: JsonObject;
}

/** The fields that an `input` asks for. */
export interface QuestionForm {
  /** The question, without what the prompt says about the form of the answer. */
  message: string;
  /** A JSON Schema of the type object. */
  schema: JsonObject;
  /** True if `cancel` is an answer beside `decline`: the human leaves the question undecided. */
  cancel?: true;
  /** A page on the web that the human opens before answering. */
  url?: string;
}

/** The login at another server that an `input` asks for. */
export interface LoginOfQuestion {
  /** The name of the server. */
  server: string;
  /** The owner of the login; null for the tenant's, which runs without a user use. */
  user: string | null;
  /** The page at which a human logs in. Shown only to those who may; null if an operation of the API gives the address. */
  url: string | null;
}

/** The call of a tool, or code, that an approval is about: a rule may let it run without a human. */
export interface JudgedQuestion {
  approval: Approval;
  /** The name of the tool. */
  tool: string;
  /** The key of the step that makes the call. */
  step: string;
  /** The arguments as they are shown. */
  arguments: JsonObject;
  /** The same as the tool gets them; of code, one for each block. */
  values: readonly JsonObject[];
  /** Another one means another tool, for which an earlier approval does not count. */
  identity: string;
}

/** A question to a human, or the call of a tool of the run's client. */
export interface Question {
  /**
   * Deterministic: take it from {@link TurnContext.id}. The `request_id` that clients answer is this id for an input; for
   * the others it is derived from this id and from what it is about, so that no answer counts for anything else.
   */
  id: string;
  kind: "input" | "approval" | "tool";
  source: string;
  prompt: string;
  /** The subject of an `approval`. */
  code?: string;
  toolCall?: ToolCallQuestion;
  /** The call for which an `approval` may be asked. Without it a human is always asked. */
  judged?: JudgedQuestion;
  /**
   * Makes the answer to an `input` the text of a JSON object, or `decline`: clients that can show forms ask for its fields. The
   * answer is not checked.
   */
  form?: QuestionForm;
  /** The login that answers an `input` by itself. The prompt must not have its address, which not everybody may see. */
  login?: LoginOfQuestion;
  /** Seconds after which `defaultAnswer` counts as the answer; null waits without a limit. */
  timeoutSeconds?: number | null;
  defaultAnswer?: Answer | null;
}

/** `content` is a text or a chat message for `input`, and the result as a text for `tool`. */
export type Answer =
  | { content: string | JsonObject; is_error?: boolean | undefined }
  | {
      approved: boolean;
      reason?: string;
      arguments?: JsonObject;
      /** The approval counts for equal calls, too: those of the run, or of the team. */
      allow?: "run" | "team" | undefined;
      /** Set by the host: who approved, now or earlier. Missing where no human did. */
      given?: { by: string[]; at: string };
    };

/** An approval of a call, as the tool learns of it. */
export interface Approved {
  /** The names or subjects of the credentials that approved. */
  by: string[];
  /** When the last of them did, ISO 8601 UTC. */
  at: string;
  /** The rule, as component JSON has it. */
  rule: Approval;
}

/** One of several parallel branches. */
export interface Branch<Item, Result> extends ScopeOptions {
  /** Scope key, unique among the branches. */
  key: string;
  run(ctx: TurnContext): AsyncGenerator<Item, Result, void>;
}

/** The reader in a scope of what is sent into the run. */
export interface ScopeOptions {
  /** The name of the team's member that runs there. Default: whoever opens the scope. */
  member?: string | undefined;
  /** True for a tool: what runs there reads nothing of what is sent into the run. */
  deaf?: boolean | undefined;
}

export interface SteeringOptions {
  /** True at the end of a turn. In a turn of the outermost team nothing comes after it. */
  last?: boolean | undefined;
  /** True for what was sent into earlier runs only, whose turn was given up. */
  earlier?: boolean | undefined;
}

export interface AllOptions {
  /**
   * True to begin a branch only when all earlier ones have ended or wait for an effect. Without waits, items then come
   * branch by branch. Default false: all begin at once.
   */
  inTurn?: boolean | undefined;
}

/**
 * The services of the host for agents, tools and managers. Every external effect, and everything that is not a function of
 * its inputs, goes through it. In memory it simply runs; in a Durable Object it is recorded, so that an interrupted turn
 * can run again without repeating it.
 */
export interface TurnContext<Env = object> {
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /**
   * True once a client has requested a stop after this turn. Visible in the outermost scope only: it is not recorded, so
   * nothing inside a turn may depend on it.
   */
  readonly stopRequested: boolean;
  /** Tools of the run's client: its assistant agents offer them to their models. */
  readonly clientTools: readonly ToolSchema[];
  /** Response settings of the run's client. */
  readonly answerForm: AnswerForm | undefined;
  /** Bindings and variables of the Worker, for effects of steps; in memory, the `env` of the run, or empty. */
  readonly env: Env;
  /** The caller and the purpose of the run. */
  readonly run: RunContext;
  /** The files of the run's task, also in later turns, in a retry and in inner teams. */
  readonly files: readonly TaskFile[];
  /** The memories of the team, its user and its tenant. */
  readonly memory: MemoryHost;
  /** The time of the last recorded step in this scope or in one opened in it, ISO 8601 UTC. */
  now(): string;
  /** Milliseconds of running at that time, without waits for humans and pauses. */
  readonly elapsedMs: number;
  /** A new id, the same one when the turn runs again. */
  id(): string;
  /**
   * Runs `effect` once and records its result, which must be JSON. Only leaf effects are steps: a step inside another
   * one throws. At most five run at once in the whole run.
   * @param key unique within this scope
   */
  step<T>(
    key: string,
    effect: (attempt: StepAttempt) => Promise<T>,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** A step that yields pieces while it runs. Pieces are not recorded: a recorded result comes without them. */
  stream<C, T>(
    key: string,
    effect: (attempt: StepAttempt) => AsyncGenerator<C, T, void>,
    options?: StreamStepOptions<T>,
  ): AsyncGenerator<C, T, void>;
  /** Asks a human. May end the turn with a signal; the turn runs again when the answer has arrived. */
  ask(question: Question): Promise<Answer>;
  /** A context whose keys and ids have the prefix `key`, for an inner agent, team or tool. */
  scope(key: string, options?: ScopeOptions): TurnContext<Env>;
  /**
   * The messages that people have sent into the run and that the agent or team of this scope has not read. They count as read
   * then. The same messages when the turn runs again; usually none.
   * @param key unique within this scope
   */
  steering(key: string, options?: SteeringOptions): readonly TextMessage[];
  /** The names of the members below this scope that have read a message in this turn. */
  readersOf(message: string): readonly string[];
  /** Describes what runs in this scope. Shown in traces; nothing depends on it. */
  describe(subject: ScopeSubject): void;
  /**
   * An inner team of this scope has finished a turn of its own, which no commit follows.
   *
   * @param state reads what it shows of its state
   */
  innerTurn(team: string, state: () => JsonObject | undefined): void;
  /** Adds a note to the run: what it did without, and why. A note that the run has already is added once. */
  note(message: string): void;
  /**
   * Runs branches in parallel, yields their items as they arrive, and returns their results in order. When one fails,
   * the others finish their current step and start no new one; then the failure is thrown.
   */
  all<Item, Result>(
    branches: readonly Branch<Item, Result>[],
    options?: AllOptions,
  ): AsyncGenerator<Item, Result[], void>;
}
