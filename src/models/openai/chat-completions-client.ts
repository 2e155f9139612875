import type { ComponentDefinition } from "../../core/component/component.ts";
import { withoutNulls } from "../../core/component/component.ts";
import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  ToolSchema,
} from "../../core/models/chat-completion-client.ts";
import { addUsage, type LLMMessage, type RequestUsage } from "../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../core/models/model-info.ts";
import { countTokens } from "../../core/models/token-count.ts";
import { LONGEST_TIMER_MS } from "../../core/wait.ts";
import { type Connection, send, sendStreaming, type SendOptions } from "./connection.ts";
import { readCompletion } from "./read-completion.ts";
import { RequestBodies } from "./request-body.ts";
import { StreamReader } from "./stream-reader.ts";

/** Seconds, where the config does not say. */
const DEFAULT_TIMEOUT = 600;

export interface ChatCompletionsSetup {
  definition: Pick<ComponentDefinition, "provider" | "componentType" | "role" | "version">;
  /** The config to dump. */
  config: { readonly [key: string]: unknown };
  model: string;
  modelInfo: ModelInfo;
  /** Tokens of the context window, if known. */
  tokenLimit: number | undefined;
  createArgs: JsonObject;
  includeNames: boolean;
  prefixNames: boolean;
  /** Seconds. */
  timeout: number | null | undefined;
  connect(): Connection;
}

/** What all clients of servers that speak OpenAI's chat completions share. */
export abstract class ChatCompletionsClient implements ChatCompletionClient {
  readonly definition: ChatCompletionsSetup["definition"];
  readonly modelInfo: ModelInfo;
  readonly #setup: ChatCompletionsSetup;
  readonly #bodies: RequestBodies;
  #connection: Connection | undefined;
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

  protected constructor(setup: ChatCompletionsSetup) {
    this.definition = setup.definition;
    this.modelInfo = setup.modelInfo;
    this.#setup = setup;
    this.#bodies = new RequestBodies(setup);
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): Promise<CreateResult> {
    const body = this.#bodies.write(messages, options, false);
    const answer = await send(this.#connect(), body, this.#sendOptions(options));
    return this.#count(readCompletion(answer, this.modelInfo.family));
  }

  createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const reader = new StreamReader(this.modelInfo.family);
    return sendStreaming(
      () => ({
        connection: this.#connect(),
        body: this.#bodies.write(messages, options, true),
        options: this.#sendOptions(options),
      }),
      { read: (chunk) => reader.read(chunk), result: () => this.#count(reader.result()) },
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

  #connect(): Connection {
    this.#connection ??= this.#setup.connect();
    return this.#connection;
  }

  #sendOptions({ extraCreateArgs, idempotencyKey, signal }: CreateOptions): SendOptions {
    const given = extraCreateArgs?.["timeout"];
    const seconds = typeof given === "number" ? given : (this.#setup.timeout ?? DEFAULT_TIMEOUT);
    const timeoutMs = Math.min(LONGEST_TIMER_MS, Math.max(1, Math.round(seconds * 1000)));
    return { timeoutMs, idempotencyKey, signal };
  }

  #count(result: CreateResult): CreateResult {
    this.#usage = addUsage(this.#usage, result.usage);
    return result;
  }
}
