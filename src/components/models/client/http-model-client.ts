import { type ComponentDefinition, withoutNulls } from "../../../core/component/component.ts";
import { ValueError } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  JsonOutput,
  ToolSchema,
  WrittenOptions,
  WrittenRequest,
} from "../../../core/models/chat-completion-client.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import { addUsage, type RequestUsage } from "../../../core/models/request-usage.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";
import { retryPolicyOf } from "../../../core/steps/retry-config.ts";
import { estimateUsage } from "../../../core/models/tokens/estimate.ts";
import { countTokens } from "../../../core/models/tokens/token-count.ts";
import type { RetryPolicy } from "../../../core/steps/retry.ts";
import type { StepSubject } from "../../../core/steps/step-attempt.ts";
import { LONGEST_TIMER_MS } from "../../../core/wait.ts";
import type { SendOptions } from "../http/read-stream.ts";
import type { RequestForms } from "../http/request-forms.ts";

/** The default, in seconds. */
const DEFAULT_TIMEOUT = 600;

/** The API of a model server: OpenAI's chat completions, Ollama's chat. Makes one attempt per call. */
export interface ModelApi {
  create(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
  ): Promise<CreateResult>;
  /**
   * Sends nothing until the first piece is asked for.
   * @param count called with the result. A generator around this one would cost an `await` per token.
   */
  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    sendOptions: SendOptions,
    count: (result: CreateResult) => CreateResult,
  ): AsyncGenerator<string, CreateResult, void>;
  /** The request that the other methods would send first. */
  write(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    streamed: boolean,
  ): RequestForms & { path?: string };
}

export interface HttpModelClientSetup {
  definition: Pick<ComponentDefinition, "provider" | "componentType" | "role" | "version">;
  /** The config to dump. */
  config: {
    readonly retry?:
      | { for_seconds?: number | null | undefined; attempts?: number | null | undefined }
      | null
      | undefined;
    readonly max_retries?: number | null | undefined;
    readonly [key: string]: unknown;
  };
  model: string;
  /** The operator of the model, as OpenTelemetry names it (`gen_ai.provider.name`). */
  provider: string;
  modelInfo: ModelInfo;
  /** Tokens of the context window, if known. */
  tokenLimit: number | undefined;
  /** Seconds. */
  timeout: number | null | undefined;
  api: ModelApi;
}

/** Base class of model clients over HTTP. */
export abstract class HttpModelClient implements ChatCompletionClient {
  readonly definition: HttpModelClientSetup["definition"];
  readonly modelInfo: ModelInfo;
  readonly subject: StepSubject;
  readonly contextWindow: number | undefined;
  readonly #setup: HttpModelClientSetup;
  readonly #retry: RetryPolicy | undefined;
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

  protected constructor(setup: HttpModelClientSetup) {
    this.definition = setup.definition;
    this.modelInfo = setup.modelInfo;
    this.contextWindow = setup.tokenLimit;
    this.subject = { name: setup.model, provider: setup.provider };
    this.#setup = setup;
    this.#retry = retryPolicyOf(setup.config);
  }

  retryPolicy(): RetryPolicy | undefined {
    return this.#retry;
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): Promise<CreateResult> {
    const { api } = this.#setup;
    const result = await api.create(messages, options, this.#sendOptions(options));
    return answerTo(options, this.#count(messages, options, result));
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const { api } = this.#setup;
    const sendOptions = this.#sendOptions(options);
    return api.createStream(messages, options, sendOptions, (result) =>
      answerTo(options, this.#count(messages, options, result)),
    );
  }

  writeRequest(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    { streamed, note }: WrittenOptions,
  ): WrittenRequest {
    const first = this.#setup.api.write(messages, options, streamed);
    const { path, text, others = [] } = first;
    const accepted = others.find((form) => form.note === note);
    const left = (accepted ?? first).note;
    return {
      body: accepted?.write() ?? text,
      ...(path !== undefined && { path }),
      ...(left !== undefined && { note: left }),
    };
  }

  async countTokens(
    messages: readonly LLMMessage[],
    tools: readonly ToolSchema[] = [],
  ): Promise<number> {
    return countTokens(messages, tools, this.#setup.model);
  }

  async remainingTokens(
    messages: readonly LLMMessage[],
    tools: readonly ToolSchema[] = [],
  ): Promise<number> {
    const { model, tokenLimit } = this.#setup;
    if (tokenLimit === undefined)
      throw new ValueError(`The size of the context window of the model '${model}' is not known`);
    return tokenLimit - (await this.countTokens(messages, tools));
  }

  answerLimit({ extraCreateArgs }: CreateOptions): number | undefined {
    return tokenLimitIn({ ...this.#setup.config, ...extraCreateArgs })?.value;
  }

  totalUsage(): RequestUsage {
    return this.#usage;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#setup.config);
  }

  async close(): Promise<void> {}

  #sendOptions({
    extraCreateArgs,
    idempotencyKey,
    signal,
    flush,
    startOver,
    arrived,
    trace,
    hops,
  }: CreateOptions): SendOptions {
    const given = extraCreateArgs?.["timeout"];
    const seconds = typeof given === "number" ? given : (this.#setup.timeout ?? DEFAULT_TIMEOUT);
    const timeoutMs = Math.min(LONGEST_TIMER_MS, Math.max(1, Math.round(seconds * 1000)));
    return { timeoutMs, idempotencyKey, signal, flush, startOver, arrived, trace, hops };
  }

  /** @throws ModelError `empty_response` for a result without a text and without a call */
  #count(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    result: CreateResult,
  ): CreateResult {
    const { usage, content } = result;
    const named = { ...result, model: this.#setup.model };
    this.#usage = addUsage(this.#usage, usage);
    if (content.length === 0 || (typeof content === "string" && content.trim() === ""))
      throw this.#emptyError(result, options);
    if (usage.prompt_tokens > 0 || usage.completion_tokens > 0) return named;
    // The server reports no usage. AutoGen then counts zero, as the messages do; limits and cost use an estimate by
    // length.
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const estimate = estimateUsage(messages, text);
    return { ...named, usage_details: { ...result.usage_details, estimate } };
  }

  /** Another attempt may have an answer, except where the limit of tokens has ended this one. */
  #emptyError(
    { usage, finish_reason, thought }: CreateResult,
    { extraCreateArgs }: CreateOptions,
  ): ModelError {
    const { model, config } = this.#setup;
    const isCut = finish_reason === "length";
    const what = thought ? "has thoughts and no text" : "is empty";
    const limit = isCut ? tokenLimitIn({ ...config, ...extraCreateArgs }) : undefined;
    const remedy = isCut
      ? `: the limit of tokens ended it${limit === undefined ? "" : ` (${limit.name}: ${limit.value})`}. Raise the limit, or have the model reason less`
      : "";
    return new ModelError("empty_response", `The answer of the model '${model}' ${what}${remedy}`, {
      retryable: !isCut,
      spent: { [model]: usage },
    });
  }
}

/** The limit of an answer's tokens in the fields of a request, as the client's config names it. */
function tokenLimitIn(
  fields: Readonly<Record<string, unknown>>,
): { name: string; value: number } | undefined {
  const { options } = fields;
  const all: JsonObject = { ...(isJsonObject(options) ? options : {}), ...withoutNulls(fields) };
  for (const name of ["max_completion_tokens", "max_tokens", "max_output_tokens", "num_predict"]) {
    const value = all[name];
    if (typeof value === "number") return { name, value };
  }
  return undefined;
}

/**
 * The answer to a request. A refusal is a text that does not have the requested form.
 *
 * @throws ModelError `refused` for a refusal in place of JSON
 */
function answerTo({ jsonOutput }: CreateOptions, result: CreateResult): CreateResult {
  const { refusal, content, model, usage } = result;
  if (refusal !== true || !jsonOutput || typeof content !== "string") return result;
  throw new ModelError("refused", `The model refused to answer: ${content}`, {
    ...(model !== undefined && { spent: { [model]: usage } }),
  });
}

/** Refuses requests that a model cannot serve, before anything is sent. */
export class ModelAbilities {
  /** True if the model gets images. */
  readonly sees: boolean;
  /** True if the model gets files directly. */
  readonly readsFiles: boolean;
  readonly #model: string;
  readonly #info: ModelInfo;

  constructor(model: string, info: ModelInfo) {
    this.sees = info.vision;
    this.readsFiles = info.pdf === true;
    this.#model = model;
    this.#info = info;
  }

  /** @throws ValueError for a model without function calling */
  checkTools(): void {
    if (!this.#info.functionCalling)
      throw new ValueError(
        `The model '${this.#model}' cannot call functions (model_info.function_calling is false)`,
      );
  }

  /** @throws ValueError for a model without vision */
  checkImage(source: string): void {
    if (!this.sees)
      throw new ValueError(
        `The model '${this.#model}' cannot see images, and a message of '${source}' has one (model_info.vision is false)`,
      );
  }

  /** @throws ValueError for a model without that kind of JSON output */
  checkOutput(output: JsonOutput): void {
    if (output === true && !this.#info.jsonOutput)
      throw new ValueError(
        `The model '${this.#model}' has no JSON mode (model_info.json_output is false)`,
      );
    if (typeof output === "object" && this.#info.structuredOutput !== true)
      throw new ValueError(
        `The model '${this.#model}' has no structured output (model_info.structured_output is not true)`,
      );
  }
}
