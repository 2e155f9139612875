import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
} from "../component/component.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { ChatCompletionClient, ToolSchema } from "../models/chat-completion-client.ts";
import { isResults, type LLMMessage } from "../models/llm-messages.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
  requirePositive,
  wholeExchanges,
} from "./base-chat-completion-context.ts";
import {
  aList,
  aModelClient,
  aNumber,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";

const toolSchemaSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  parameters: jsonObjectSchema.optional(),
  strict: z.boolean().optional(),
});

const configSchema = z.object({
  model_client: componentModelSchema,
  token_limit: z.int().nullish(),
  tool_schema: z.array(toolSchemaSchema).nullish(),
  initial_messages: initialMessagesSchema,
});

export interface TokenLimitedOptions {
  /** Counts tokens. */
  modelClient: ChatCompletionClient;
  /** The most tokens to show; null: the client's estimate of the remaining tokens. */
  tokenLimit?: number | null | undefined;
  /** Tools whose descriptions are counted too. */
  toolSchema?: readonly ToolSchema[] | undefined;
  initialMessages?: readonly LLMMessage[] | null | undefined;
}

const optionsSchema: OptionsSchema<TokenLimitedOptions> = z.object({
  modelClient: aModelClient,
  tokenLimit: aNumber.nullish(),
  toolSchema: aList.optional(),
  initialMessages: aList.nullish(),
});

/**
 * Shows the model as many messages as fit a number of tokens, leaving out those in the middle (AutoGen
 * `TokenLimitedChatCompletionContext`). Calls and their results stay or go together. Those at the end of the conversation
 * stay, also where they alone are more than the limit, and so does the last message if no other fits.
 *
 * @throws ValueError unless `tokenLimit` is above 0 or null
 */
export class TokenLimitedChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.model_context.TokenLimitedChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: (config, loader) =>
      new TokenLimitedChatCompletionContext({
        modelClient: loader.load<ChatCompletionClient>(
          config.model_client,
          "model",
          "model_client",
        ),
        tokenLimit: config.token_limit ?? null,
        toolSchema: config.tool_schema ?? [],
        initialMessages: config.initial_messages ?? null,
      }),
  });

  readonly definition = TokenLimitedChatCompletionContext.component;
  readonly #client: ChatCompletionClient;
  readonly #limit: number | null;
  readonly #tools: readonly ToolSchema[];

  constructor(options: TokenLimitedOptions) {
    const checked = checkOptions(optionsSchema, options, "TokenLimitedChatCompletionContext");
    const { modelClient, tokenLimit = null, toolSchema = [], initialMessages } = checked;
    super(initialMessages);
    this.#client = modelClient;
    this.#limit = tokenLimit === null ? null : requirePositive("token_limit", tokenLimit);
    this.#tools = toolSchema;
  }

  /** Doubles the number of messages while they fit, then closes in: a long context is not read in whole. */
  async getMessages(): Promise<LLMMessage[]> {
    const total = this.length;
    let fits = 0;
    let tooMany = total + 1;
    while (tooMany - fits > 1) {
      const doubled = Math.min(total, fits * 2 + 1);
      const count = tooMany > total ? doubled : (fits + tooMany) >> 1;
      if (await this.#fit(this.#ends(count))) fits = count;
      else tooMany = count;
    }
    if (fits === total) return this.ending(0).messages;
    const last = fits >> 1;
    const head = this.beginning(fits - last);
    const tail = wholeExchanges(last > 0 ? this.slice(-last) : []);
    const isAnswered = !isResults(this.slice(-1)[0]);
    if (tail.length > 0 || (head.length > 0 && isAnswered)) return [...head, ...tail];
    return this.#withLastExchange(fits - last);
  }

  /** The exchange at the end of the conversation, and as many of the first `most` messages as fit beside it. */
  async #withLastExchange(most: number): Promise<LLMMessage[]> {
    const { start, messages } = this.ending(this.length - 1);
    let fits = 0;
    let tooMany = Math.min(most, start) + 1;
    while (tooMany - fits > 1) {
      const count = (fits + tooMany) >> 1;
      if (await this.#fit([...this.beginning(count), ...messages])) fits = count;
      else tooMany = count;
    }
    return [...this.beginning(fits), ...messages];
  }

  protected ownConfig(): { [key: string]: unknown } {
    return {
      model_client: dumpComponent(this.#client),
      token_limit: this.#limit,
      tool_schema: this.#tools,
    };
  }

  async #fit(messages: LLMMessage[]): Promise<boolean> {
    if (this.#limit === null) {
      return (await this.#client.remainingTokens(messages, this.#tools)) >= 0;
    }
    return (await this.#client.countTokens(messages, this.#tools)) <= this.#limit;
  }

  /** The first and last messages, `count` together, the odd one from the beginning. */
  #ends(count: number): LLMMessage[] {
    const last = count >> 1;
    const tail = last > 0 ? this.slice(-last) : [];
    return [...this.slice(0, count - last), ...tail];
  }
}
