import type { Component } from "../core/component/component.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
} from "../core/models/chat-completion-client.ts";
import { addUsage, type RequestUsage } from "../core/models/request-usage.ts";
import type { FunctionCall, LLMMessage } from "../core/models/llm-messages.ts";
import type { ModelInfo } from "../core/models/model-info.ts";
import { aList, checkArgument } from "../core/options/options.ts";

/** One request as the model got it. */
export interface ScriptedRequest {
  messages: readonly LLMMessage[];
  options: CreateOptions;
  streaming: boolean;
}

/** A text, tool calls, a complete result where more matters, an error to throw, or a function of the request. */
export type ScriptedReply =
  | string
  | readonly FunctionCall[]
  | (Partial<CreateResult> & Pick<CreateResult, "content">)
  | Error
  | ((request: ScriptedRequest) => Promise<ScriptedReply> | ScriptedReply);

const MODEL_INFO: ModelInfo = {
  vision: false,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
};

/**
 * A model that follows a script, for tests. It is strict: a call that the script does not have fails, and
 * {@link assertDone} fails while replies are left. Streams texts word by word.
 */
export class ScriptedChatCompletionClient implements ChatCompletionClient {
  readonly definition: Component["definition"] = {
    provider: "troupe.testing.ScriptedChatCompletionClient",
    componentType: "model",
    role: "model",
    version: 1,
  };
  readonly modelInfo: ModelInfo;
  /** The requests to it, oldest first. */
  readonly requests: ScriptedRequest[] = [];
  readonly #replies: ScriptedReply[];
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

  constructor(replies: readonly ScriptedReply[], modelInfo: Partial<ModelInfo> = {}) {
    this.#replies = [...checkArgument(aList, replies, "ScriptedChatCompletionClient", "replies")];
    this.modelInfo = { ...MODEL_INFO, ...modelInfo };
  }

  create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    return this.#reply({ messages: [...messages], options, streaming: false });
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const result = await this.#reply({ messages: [...messages], options, streaming: true });
    if (typeof result.content === "string") yield* result.content.match(/\S+\s*/g) ?? [];
    return result;
  }

  /** @throws Error naming how many replies were never asked for */
  assertDone(): void {
    if (this.#replies.length === 0) return;
    throw new Error(`the model was expected to be called ${this.#replies.length} more times`);
  }

  countTokens(messages: readonly LLMMessage[]): Promise<number> {
    return Promise.resolve(messages.length);
  }

  remainingTokens(messages: readonly LLMMessage[]): Promise<number> {
    return Promise.resolve(1000 - messages.length);
  }

  totalUsage(): RequestUsage {
    return this.#usage;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  toConfig(): JsonObject {
    return {};
  }

  async #reply(request: ScriptedRequest): Promise<CreateResult> {
    this.requests.push(request);
    let reply = this.#replies.shift();
    if (reply === undefined) {
      const last = JSON.stringify(request.messages.at(-1));
      throw new Error(`call ${this.requests.length} of the model is not in the script: ${last}`);
    }
    while (typeof reply === "function") reply = await reply(request);
    if (reply instanceof Error) throw reply;
    const result = asResult(reply);
    this.#usage = addUsage(this.#usage, result.usage);
    return result;
  }
}

function asResult(
  reply: Exclude<ScriptedReply, Error | ((...args: never[]) => unknown)>,
): CreateResult {
  const given: Partial<CreateResult> =
    typeof reply === "object" && "content" in reply ? reply : { content: asContent(reply) };
  const { content = "" } = given;
  return {
    finish_reason: typeof content === "string" ? "stop" : "function_calls",
    usage: { prompt_tokens: 10, completion_tokens: 5 },
    cached: false,
    ...given,
    content,
  };
}

function asContent(reply: string | readonly FunctionCall[]): CreateResult["content"] {
  return typeof reply === "string" ? reply : [...reply];
}
