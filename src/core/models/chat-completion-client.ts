import type { Component } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { RetryPolicy } from "../run/retry.ts";
import type { StepAttempt, StepCache, StepSubject, TraceContext } from "../run/turn-context.ts";
import type { RequestUsage, UsageDetails } from "./request-usage.ts";
import type { FunctionCall, LLMMessage, MakerData } from "./llm-messages.ts";
import type { ModelInfo } from "./model-info.ts";

/** A tool as a model is told about it (AutoGen `ToolSchema`). `parameters` is a JSON Schema of type object. */
export interface ToolSchema {
  name: string;
  description?: string;
  parameters?: JsonObject;
  strict?: boolean;
}

export type FinishReason = "stop" | "length" | "function_calls" | "content_filter" | "unknown";

export interface TokenLogprob {
  token: string;
  logprob: number;
  top_logprobs: { logprob: number; bytes: number[] | null }[] | null;
  bytes: number[] | null;
}

/** What a model answered. JSON, so that it can be recorded. */
export interface CreateResult {
  finish_reason: FinishReason;
  content: string | FunctionCall[];
  usage: RequestUsage;
  /** What the maker says besides. `estimate`: the tokens of a call whose server reports none. */
  usage_details?: Omit<UsageDetails, "estimated_tokens"> & { estimate?: RequestUsage };
  /** Name of the model, for usage and prices by model. */
  model?: string;
  cached: boolean;
  /** Of a `ChatCompletionCache` that had the result and did not call its client. */
  from_store?: true;
  logprobs?: TokenLogprob[] | null;
  thought?: string | null;
  /** What the client left out of the request, so that the model's server accepted it. Shown in the trace. */
  note?: string | undefined;
  /** Goes back to the model's maker with the message that is made of this answer. */
  troupe?: MakerData | undefined;
}

/** `true`: any JSON object; `schema`: structured output that follows this JSON Schema. */
export type JsonOutput = boolean | { name: string; schema: JsonObject };

/** How one agent's model is to answer; the agent's own settings go first. */
export interface AnswerForm {
  /** The agent's name. */
  agent: string;
  jsonOutput?: JsonOutput;
  /** Of its first call in a turn. */
  toolChoice?: "required" | { name: string };
}

export interface CreateOptions {
  tools?: readonly ToolSchema[];
  /**
   * Tools of the calls around this one, which has none: a client may declare them, so that the prompt begins as theirs do
   * and the model server finds it in its cache. They must not be called.
   */
  declaredTools?: readonly ToolSchema[];
  /** A tool's name forces that tool. Default `auto`. */
  toolChoice?: "auto" | "required" | "none" | { name: string };
  jsonOutput?: JsonOutput | null;
  /** Passed on to the provider as they are, so by its names: `max_tokens`, not `maxTokens`. */
  extraCreateArgs?: JsonObject;
  /** Stable over the attempts at one step; sent along, for servers and gateways that deduplicate. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** While streaming: call it when all pieces that arrived were yielded and the next has to be waited for. */
  flush?: () => void;
  /** The host's cache of results; only a `ChatCompletionCache` uses it. */
  cache?: StepCache;
  /** Names the conversation that the prompt belongs to, for the caches of model servers: a team's agent. */
  conversation?: string;
  /** What is known of earlier attempts at this step. */
  attempt?: Pick<StepAttempt, "attempt" | "failingMs">;
  /** Sent along, for servers and gateways that record traces. */
  trace?: TraceContext;
  /** Skips stored results: the last answer to the same request was unusable. */
  fresh?: boolean;
}

/**
 * The port to a chat model (AutoGen `ChatCompletionClient`). Clients make exactly one attempt per call and
 * throw a {@link ModelError} that says whether another attempt makes sense; the caller counts attempts.
 */
export interface ChatCompletionClient extends Component {
  readonly modelInfo: ModelInfo;
  /** The model's name and who runs it, for traces. */
  readonly subject?: StepSubject | undefined;
  create(messages: readonly LLMMessage[], options?: CreateOptions): Promise<CreateResult>;
  /** Yields pieces of text as they arrive and returns the whole result. */
  createStream(
    messages: readonly LLMMessage[],
    options?: CreateOptions,
  ): AsyncGenerator<string, CreateResult, void>;
  countTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number>;
  /** Tokens left in the model's context window after these messages. */
  remainingTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number>;
  /**
   * How patient the caller is with an error that another attempt may mend; undefined leaves it to the default.
   * @param error one that this client has thrown
   */
  retryPolicy?(error: unknown): RetryPolicy | undefined;
  /** Tokens of all calls of this instance. */
  totalUsage(): RequestUsage;
  /**
   * Called instead of `create` when a recorded reply of an earlier attempt is used again. Only clients whose
   * next answer depends on how often they were called care (the replay client).
   */
  replayed?(result: CreateResult, messages: readonly LLMMessage[]): void;
  close(): Promise<void>;
}
