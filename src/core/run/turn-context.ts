import type { JsonObject } from "../json.ts";
import type { AnswerForm, ToolSchema } from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { RetryPolicy } from "./retry.ts";

/**
 * What a restart does with a step that had begun and has no result. `retry`: runs it again under the same key;
 * `never`: its result is an error that says the outcome is unknown; `ask`: a human decides.
 */
export type StepPolicy = "retry" | "never" | "ask";

/**
 * What a step does: calls a model, calls a tool, or has any other effect. When a turn fails, a retry repeats its last
 * `model` step. The result of a `model` step counts in the run's usage if it has `usage`, as a `CreateResult` has.
 */
export type StepKind = "model" | "tool" | "effect";

/** What a step calls, for traces. */
export interface StepSubject {
  /** Of the model, tool or other thing. */
  name: string;
  /** Who runs the model, as OpenTelemetry names it (`gen_ai.provider.name`): `openai`. */
  provider?: string;
}

/** What runs in a scope, for traces: an agent, or a tool that runs agents. */
export interface ScopeSubject {
  kind: "agent" | "tool";
  name: string;
}

/** Headers that connect a request with the trace it belongs to (W3C Trace Context). */
export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** A host's cache of results that can be computed again: texts by key. */
export interface StepCache {
  get(key: string): string | undefined;
  /** Removes the oldest entries above `maxEntries`. */
  set(key: string, value: string, maxEntries: number): void;
}

/** Handed to a step's effect. */
export interface StepAttempt {
  /** 1 for the first try. */
  attempt: number;
  /** Milliseconds since the first attempt failed; missing for the first one. */
  failingMs?: number;
  /** The path of the step's scope in its turn: the same for all calls of an agent. */
  scope?: string;
  /** Stable over attempts and restarts; send it along where the other side can deduplicate. */
  idempotencyKey: string;
  /** Aborts when the run is cancelled. */
  signal: AbortSignal;
  /**
   * The team's name at external services (a sandbox session) over its whole life: unguessable and unique. Undefined on
   * hosts without one.
   */
  session?: string;
  /**
   * Sends the pieces yielded so far to clients at once, in one write. An effect of {@link TurnContext.stream} calls it
   * when it has yielded everything that arrived and has to wait for more. Without it pieces take about a millisecond.
   */
  flush?: () => void;
  /** Undefined on hosts without one. Entries are written together with the step's result: both or neither. */
  cache?: StepCache;
  /** Undefined where no trace is recorded; send it along where the other side records one. */
  trace?: TraceContext;
}

export interface StepOptions<T> {
  /** Default `effect`. */
  kind?: StepKind;
  /** Default `retry`. */
  policy?: StepPolicy;
  /** Shown in traces; nothing depends on it. */
  subject?: StepSubject;
  /** What a model is sent. Called only for traces that hold contents, and to estimate the tokens of a call that was cut off. */
  input?: () => readonly LLMMessage[];
  /**
   * Identifies the request; a recorded result is used again only for the same fingerprint. A function for one that takes
   * time to make: it is called at most once, and not by hosts that record nothing.
   */
  fingerprint?: string | (() => string);
  /** How patient the step is with an error that another attempt may mend. Without it the step has five attempts. */
  retry?(error: unknown): RetryPolicy;
  /** Called instead of the effect when a recorded result is used. */
  onReplay?(result: T): void;
  /** The step's result when its outcome is unknown (`never`) or was refused (`ask`). Without it the step throws. */
  unknownOutcome?(message: string): T;
}

export interface StreamStepOptions<T> extends StepOptions<T> {
  /** Id of the message whose text streams: clients discard the text when the call is made again. */
  messageId?: string;
}

/** A tool call that needs approval, or that the client makes. */
export interface ToolCallQuestion {
  /** As the model called it. */
  name: string;
  arguments: JsonObject;
  /** The model's id of the call; models repeat them. */
  callId?: string;
  /** A JSON Schema that arguments edited by a human must match. */
  parameters?: JsonObject;
}

/** A question to a human, or the call of a tool that the client of the run has. */
export interface Question {
  /**
   * Deterministic: take it from {@link TurnContext.id}. The `request_id` that clients answer is this id for an input; for
   * the others it is derived from this id and from what it is about, so that no answer counts for anything else.
   */
  id: string;
  kind: "input" | "approval" | "tool";
  source: string;
  prompt: string;
  /** What is to be approved, for `approval`. */
  code?: string;
  toolCall?: ToolCallQuestion;
  /** Seconds after which `defaultAnswer` counts as the answer; null waits without a limit. */
  timeoutSeconds?: number | null;
  defaultAnswer?: Answer | null;
}

/** `content` is a text or a chat message for `input`, and the result as a text for `tool`. */
export type Answer =
  | { content: string | JsonObject; is_error?: boolean | undefined }
  | { approved: boolean; reason?: string; arguments?: JsonObject };

/** One of several parallel branches. */
export interface Branch<Item, Result> {
  /** Scope key, unique among the branches. */
  key: string;
  run(ctx: TurnContext): AsyncGenerator<Item, Result, void>;
}

export interface AllOptions {
  /**
   * Whether a branch begins only when all before it have ended or wait for an effect. Without waits, items then come
   * branch by branch. Default false: all begin at once.
   */
  inTurn?: boolean;
}

/**
 * The services of the host for agents, tools and managers. Every external effect, and everything that is not a function of
 * its inputs, goes through it. In memory it simply runs; in a Durable Object it is recorded, so that an interrupted turn
 * can run again without repeating it.
 */
export interface TurnContext {
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /**
   * True once a client has requested a stop after this turn. Visible in the outermost scope only: it is not recorded, so
   * nothing inside a turn may depend on it.
   */
  readonly stopRequested: boolean;
  /** Tools of the run's client: its assistant agents offer them to their models. */
  readonly clientTools: readonly ToolSchema[];
  /** How the run's client wants to be answered. */
  readonly answerForm: AnswerForm | undefined;
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
  scope(key: string): TurnContext;
  /** Says what runs in this scope. Shown in traces; nothing depends on it. */
  describe(subject: ScopeSubject): void;
  /**
   * Runs branches in parallel, yields their items as they arrive, and returns their results in order. When one fails, the
   * others finish their present step and start nothing new; then the failure is thrown.
   */
  all<Item, Result>(
    branches: readonly Branch<Item, Result>[],
    options?: AllOptions,
  ): AsyncGenerator<Item, Result[], void>;
}
