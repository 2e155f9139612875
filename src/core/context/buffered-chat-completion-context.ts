import * as z from "zod";
import { type AnyComponentDefinition, componentDefinition } from "../component/component.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
  requirePositive,
} from "./base-chat-completion-context.ts";

const configSchema = z.object({
  buffer_size: z.int(),
  initial_messages: initialMessagesSchema,
});

/**
 * Shows the model the last `bufferSize` messages (AutoGen `BufferedChatCompletionContext`), fewer where they would
 * begin with the results of calls it does not see. Calls at the end of the conversation stay with their results.
 *
 * @throws ValueError unless `bufferSize` is above 0
 */
export class BufferedChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.model_context.BufferedChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: (config) =>
      new BufferedChatCompletionContext(config.buffer_size, config.initial_messages),
  });

  readonly definition = BufferedChatCompletionContext.component;
  readonly #size: number;

  constructor(bufferSize: number, initialMessages?: readonly LLMMessage[] | null) {
    super(initialMessages);
    this.#size = requirePositive("buffer_size", bufferSize);
  }

  getMessages(): Promise<LLMMessage[]> {
    return Promise.resolve(this.ending(this.length - this.#size).messages);
  }

  protected ownConfig(): { [key: string]: unknown } {
    return { buffer_size: this.#size };
  }
}
