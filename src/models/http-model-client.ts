import type { ComponentDefinition } from "../core/component/component.ts";
import { withoutNulls } from "../core/component/component.ts";
import { ValueError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  ToolSchema,
} from "../core/models/chat-completion-client.ts";
import { addUsage, type RequestUsage } from "../core/models/request-usage.ts";
import type { LLMMessage } from "../core/models/llm-messages.ts";
import type { ModelInfo } from "../core/models/model-info.ts";
import { retryPolicyOf } from "../core/models/retry-config.ts";
import { estimateUsage } from "../core/models/tokens/estimate.ts";
import { countTokens } from "../core/models/tokens/token-count.ts";
import type { RetryPolicy } from "../core/run/retry.ts";
import type { StepSubject } from "../core/run/turn-context.ts";
import { LONGEST_TIMER_MS } from "../core/wait.ts";
import type { SendOptions } from "./http/read-stream.ts";

/** Seconds, where the config gives none. */
const DEFAULT_TIMEOUT = 600;

/** One way of speaking to model servers: OpenAI's chat completions, Ollama's chat. Makes one attempt per call. */
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
  /** Who runs the model, as OpenTelemetry names it (`gen_ai.provider.name`). */
  provider: string;
  modelInfo: ModelInfo;
  /** Tokens of the context window, if known. */
  tokenLimit: number | undefined;
  /** Seconds. */
  timeout: number | null | undefined;
  api: ModelApi;
}

/** A model client whose model is reached over HTTP: what all of them share. */
export abstract class HttpModelClient implements ChatCompletionClient {
  readonly definition: HttpModelClientSetup["definition"];
  readonly modelInfo: ModelInfo;
  readonly subject: StepSubject;
  readonly #setup: HttpModelClientSetup;
  readonly #retry: RetryPolicy | undefined;
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

  protected constructor(setup: HttpModelClientSetup) {
    this.definition = setup.definition;
    this.modelInfo = setup.modelInfo;
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
    return this.#count(messages, await api.create(messages, options, this.#sendOptions(options)));
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const { api } = this.#setup;
    const sendOptions = this.#sendOptions(options);
    return api.createStream(messages, options, sendOptions, (result) =>
      this.#count(messages, result),
    );
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
    trace,
  }: CreateOptions): SendOptions {
    const given = extraCreateArgs?.["timeout"];
    const seconds = typeof given === "number" ? given : (this.#setup.timeout ?? DEFAULT_TIMEOUT);
    const timeoutMs = Math.min(LONGEST_TIMER_MS, Math.max(1, Math.round(seconds * 1000)));
    return { timeoutMs, idempotencyKey, signal, flush, trace };
  }

  #count(messages: readonly LLMMessage[], result: CreateResult): CreateResult {
    const { usage, content } = result;
    const named = { ...result, model: this.#setup.model };
    this.#usage = addUsage(this.#usage, usage);
    if (usage.prompt_tokens > 0 || usage.completion_tokens > 0) return named;
    // The server reports no usage. AutoGen counts nothing then, and the messages say so; limits and cost go by the length.
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const estimate = estimateUsage(messages, text);
    return { ...named, usage_details: { ...result.usage_details, estimate } };
  }
}
