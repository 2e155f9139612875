import type { JsonObject } from "../json.ts";

/**
 * What a restart does with a step that had begun and has no result. `retry`: runs it again under the same key;
 * `never`: its result is an error that says the outcome is unknown; `ask`: a human decides.
 */
export type StepPolicy = "retry" | "never" | "ask";

/**
 * What a step does: calls a model, calls a tool, or has any other effect. When a turn fails, a retry repeats its last
 * `model` step.
 */
export type StepKind = "model" | "tool" | "effect";

/** What a host keeps of results that could be had again, as long as there is room: by key, as texts. */
export interface StepCache {
  get(key: string): string | undefined;
  /** When there are more than `maxEntries` now, the oldest go. */
  set(key: string, value: string, maxEntries: number): void;
}

/** Handed to a step's effect. */
export interface StepAttempt {
  /** 1 for the first try. */
  attempt: number;
  /** Stable over attempts and restarts; send it along where the other side can deduplicate. */
  idempotencyKey: string;
  /** Aborts when the run is cancelled. */
  signal: AbortSignal;
  /**
   * Names what the team keeps at services outside, over its whole life: unguessable, and another one for every team.
   * Where the host has one.
   */
  session?: string;
  /**
   * Sends the pieces yielded so far to clients at once, in one write. An effect of {@link TurnContext.stream} calls it
   * when it has yielded everything that arrived and has to wait for more. Without it pieces take about a millisecond.
   */
  flush?: () => void;
  /** Where the host has one. What a step sets is kept when its result is recorded: both or neither. */
  cache?: StepCache;
}

export interface StepOptions<T> {
  /** Default `effect`. */
  kind?: StepKind;
  /** Default `retry`. */
  policy?: StepPolicy;
  /** Identifies the request; a recorded result is used again only for the same fingerprint. */
  fingerprint?: string;
  /** Called instead of the effect when a recorded result is used. */
  onReplay?(result: T): void;
  /** The step's result when its outcome is unknown (`never`) or was refused (`ask`). Without it the step throws. */
  unknownOutcome?(message: string): T;
}

export interface StreamOptions<T> extends StepOptions<T> {
  /** Id of the message whose text streams: what is shown of it is discarded when the call is made again. */
  messageId?: string;
}

/** A tool call that is to be approved. */
export interface ToolCallQuestion {
  /** As the model called it. */
  name: string;
  arguments: JsonObject;
  /** The model's id of the call; models repeat them. */
  call_id?: string;
  /** A JSON Schema: what a human puts in the place of the arguments must fit it. */
  parameters?: JsonObject;
}

/** A question to a human. */
export interface Question {
  /**
   * Deterministic: take it from {@link TurnContext.id}. Of an input it is the `request_id` that clients answer; of an
   * approval that is made of it and of what is to be approved, because what was approved once is nothing else.
   */
  id: string;
  kind: "input" | "approval";
  source: string;
  prompt: string;
  /** What is to be approved, for `approval`. */
  code?: string;
  tool_call?: ToolCallQuestion;
  /** Seconds after which `default_answer` counts as the answer; null waits for ever. */
  timeout_seconds?: number | null;
  default_answer?: Answer | null;
}

/** `content` is a text or a chat message, for `input`. */
export type Answer =
  | { content: string | JsonObject }
  | { approved: boolean; reason?: string; arguments?: JsonObject };

/** One of several branches that run side by side. */
export interface Branch<Item, Result> {
  /** Scope key, unique among the branches. */
  key: string;
  run(ctx: TurnContext): AsyncGenerator<Item, Result, void>;
}

export interface AllOptions {
  /**
   * Whether a branch begins only once those before it have ended or wait for something outside. Where nothing has to
   * be waited for, the items then come branch by branch. Default false: all begin at once.
   */
  inTurn?: boolean;
}

/**
 * Everything an agent, tool or manager needs from whoever runs it. Whatever has an effect outside, or is not a
 * function of its inputs, goes through it; in memory it simply happens, in a Durable Object it is journaled, so
 * that an interrupted turn can be run again without repeating it.
 */
export interface TurnContext {
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  /**
   * True once somebody asked for the run to stop after this turn. Only the outermost scope shows it: it is not
   * recorded, so nothing inside a turn may depend on it.
   */
  readonly stopRequested: boolean;
  /** The time of the last recorded step in this scope or in one opened in it, ISO 8601 UTC. */
  now(): string;
  /** Milliseconds the run had been running at that time: waiting for humans and pauses left out. */
  readonly elapsedMs: number;
  /** A new id, the same one when the turn runs again. */
  id(): string;
  /**
   * Runs `effect` once and records what it returns, which must be JSON. Only leaf effects are steps: starting
   * one inside another throws. At most five run at once over the whole run.
   * @param key unique within this scope
   */
  step<T>(
    key: string,
    effect: (attempt: StepAttempt) => Promise<T>,
    options?: StepOptions<T>,
  ): Promise<T>;
  /** A step that yields pieces while it runs. Pieces are live only; a recorded result comes without them. */
  stream<C, T>(
    key: string,
    effect: (attempt: StepAttempt) => AsyncGenerator<C, T, void>,
    options?: StreamOptions<T>,
  ): AsyncGenerator<C, T, void>;
  /** Asks a human. May end the turn with a signal and be run again when the answer is there. */
  ask(question: Question): Promise<Answer>;
  /** A context whose keys and ids stand under `key`, for what runs inside: an inner agent, team or tool. */
  scope(key: string): TurnContext;
  /**
   * Runs branches side by side, yields their items as they come, and returns their results in order. When one
   * fails the others finish the step they are in and start nothing new; then the failure is thrown.
   */
  all<Item, Result>(
    branches: readonly Branch<Item, Result>[],
    options?: AllOptions,
  ): AsyncGenerator<Item, Result[], void>;
}
