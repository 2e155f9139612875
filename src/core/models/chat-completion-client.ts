import type { Component } from "../component/component.ts";
import type { JsonObject } from "../json.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepAttempt, StepCache, StepSubject, TraceContext } from "../steps/step-attempt.ts";
import type { RequestUsage, UsageDetails } from "./request-usage.ts";
import type { FunctionCall, LLMMessage, MakerData } from "./llm-messages.ts";
import type { ModelInfo } from "./model-info.ts";

/** A tool as a model sees it (AutoGen `ToolSchema`). `parameters` is a JSON Schema of type object. */
export interface ToolSchema {
  name: string;
  description?: string | undefined;
  parameters?: JsonObject | undefined;
  strict?: boolean | undefined;
}

export type FinishReason = "stop" | "length" | "function_calls" | "content_filter" | "unknown";

export interface TokenLogprob {
  token: string;
  logprob: number;
  top_logprobs: { logprob: number; bytes: number[] | null }[] | null;
  bytes: number[] | null;
}

/** A model's answer. JSON, so that it can be recorded. */
export interface CreateResult {
  finish_reason: FinishReason;
  content: string | FunctionCall[];
  usage: RequestUsage;
  /** More usage details from the provider. `estimate`: the tokens of a call whose server reports none. */
  usage_details?: Omit<UsageDetails, "estimated_tokens"> & { estimate?: RequestUsage };
  /** Name of the model, for usage and prices by model. */
  model?: string;
  cached: boolean;
  /** True in a result of a `ChatCompletionCache` that did not call its client. */
  from_store?: true;
  logprobs?: TokenLogprob[] | null;
  thought?: string | null;
  /** True if the model refused to answer; the content is in its words. */
  refusal?: true | undefined;
  /** Parts that the client left out of the request, so that the model's server accepted it. Shown in the trace. */
  note?: string | undefined;
  /** Data that is sent back to the provider with the message made from this answer. */
  troupe?: MakerData | undefined;
}

/** `true`: any JSON object; `schema`: structured output that follows this JSON Schema. */
export type JsonOutput = boolean | { name: string; schema: JsonObject };

/** Settings of one agent's answers; the agent's own settings take precedence. */
export interface AnswerForm {
  /** The agent's name. */
  agent: string;
  jsonOutput?: JsonOutput;
  /** Tool choice of the agent's first call in a turn. */
  toolChoice?: "required" | { name: string };
  /** See {@link CreateOptions.stop}. */
  stop?: readonly string[];
}

export interface CreateOptions {
  tools?: readonly ToolSchema[] | undefined;
  /**
   * Tools of the surrounding calls, for a call that has none: a client may declare them, so that the prompt begins as
   * theirs do and the model server finds it in its cache. They must not be called.
   */
  declaredTools?: readonly ToolSchema[] | undefined;
  /** A tool's name forces that tool. Default `auto`. */
  toolChoice?: "auto" | "required" | "none" | { name: string } | undefined;
  jsonOutput?: JsonOutput | null | undefined;
  /** Texts before which the answer ends. A client without a way to ask for that, or whose config has such texts, leaves them out. */
  stop?: readonly string[] | undefined;
  /** Passed on to the provider unchanged, so with its names: `max_tokens`, not `maxTokens`. */
  extraCreateArgs?: JsonObject | undefined;
  /** Stable over the attempts at one step; sent to servers and gateways for deduplication. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** For streams: called after the client has yielded all pieces that arrived and before it waits for the next. */
  flush?: (() => void) | undefined;
  /** The host's cache of results; only a `ChatCompletionCache` uses it. */
  cache?: StepCache | undefined;
  /** Identifies the conversation of the prompt (a team's agent) for the caches of model servers. */
  conversation?: string | undefined;
  /** Data about earlier attempts at this step. */
  attempt?: Pick<StepAttempt, "attempt" | "failingMs"> | undefined;
  /** A client of several models reports the one that it calls. */
  asks?: StepAttempt["asks"] | undefined;
  /** A client of several models reports the usage of calls after which it asks another one. */
  spent?: StepAttempt["spent"] | undefined;
  /** For streams: the pieces so far are void. Without it an interrupted answer cannot be replaced. */
  startOver?: StepAttempt["startOver"] | undefined;
  /** {@link StepAttempt.arrived} */
  arrived?: StepAttempt["arrived"] | undefined;
  /** Sent to servers and gateways that record traces. */
  trace?: TraceContext | undefined;
  /** {@link StepAttempt.hops} */
  hops?: number | undefined;
  /** Skips stored results: the last answer to the same request was unusable. */
  fresh?: boolean | undefined;
}

/** The facts about the call that {@link ChatCompletionClient.writeRequest} needs. */
export interface WrittenOptions {
  streamed: boolean;
  /** The note of the form that the server accepted; undefined for the whole request. */
  note?: string | undefined;
  /** The model that was called, of a client with several. */
  model?: string | undefined;
}

/** A request as a client sends it. */
export interface WrittenRequest {
  /** JSON text. */
  body: string;
  /** The path of its URL below the server's address, where a client knows it. */
  path?: string;
  /** The parts that the client leaves out, and why. */
  note?: string;
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
  /** The most tokens of an answer to a request with these options; undefined without a limit. */
  answerLimit?(options: CreateOptions): number | undefined;
  /** Tokens of the model's context window, if it is known. */
  readonly contextWindow?: number | undefined;
  /** Tokens left in the model's context window after these messages. */
  remainingTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number>;
  /**
   * The retry policy for an error that another attempt may resolve; undefined for the default.
   * @param error one that this client has thrown
   */
  retryPolicy?(error: unknown): RetryPolicy | undefined;
  /**
   * The request as it goes to the model's server; nothing is sent. Clients whose requests have no JSON form do not have it.
   */
  writeRequest?(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    written: WrittenOptions,
  ): WrittenRequest | undefined;
  /** Tokens of all calls of this instance. */
  totalUsage(): RequestUsage;
  /**
   * Called instead of `create` when a recorded reply of an earlier attempt is reused. Only clients whose
   * next answer depends on the number of calls need it (the replay client).
   */
  replayed?(result: CreateResult, messages: readonly LLMMessage[]): void;
  close(): Promise<void>;
}
