import * as z from "zod";
import { type AnyComponentDefinition, componentDefinition } from "../component/component.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
  requirePositive,
} from "./base-chat-completion-context.ts";
import { aList, aNumber, checkOptions, type OptionsSchema } from "../options/options.ts";

const configSchema = z.object({
  head_size: z.int(),
  tail_size: z.int(),
  initial_messages: initialMessagesSchema,
});

/** The number of messages that a {@link HeadAndTailChatCompletionContext} shows. */
export interface HeadAndTailOptions {
  headSize: number;
  tailSize: number;
  initialMessages?: readonly LLMMessage[] | null | undefined;
}

const optionsSchema: OptionsSchema<HeadAndTailOptions> = z.object({
  headSize: aNumber,
  tailSize: aNumber,
  initialMessages: aList.nullish(),
});

/**
 * Shows the model the first and the last messages and, between them, how many were skipped (AutoGen
 * `HeadAndTailChatCompletionContext`). Calls are not shown without their results, nor results without their calls; those at
 * the end of the conversation stay. The number counts all messages that are left out.
 *
 * @throws ValueError unless both sizes are above 0
 */
export class HeadAndTailChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.model_context.HeadAndTailChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: (config) =>
      new HeadAndTailChatCompletionContext({
        headSize: config.head_size,
        tailSize: config.tail_size,
        initialMessages: config.initial_messages ?? null,
      }),
  });

  readonly definition = HeadAndTailChatCompletionContext.component;
  readonly #head: number;
  readonly #tail: number;

  constructor(options: HeadAndTailOptions) {
    const { headSize, tailSize, initialMessages } = checkOptions(
      optionsSchema,
      options,
      "HeadAndTailChatCompletionContext",
    );
    super(initialMessages);
    this.#head = requirePositive("head_size", headSize);
    this.#tail = requirePositive("tail_size", tailSize);
  }

  getMessages(): Promise<LLMMessage[]> {
    if (this.length <= this.#head + this.#tail) return Promise.resolve(this.ending(0).messages);
    // Reads the tail first: memory then holds the log from there on, and the head is a separate short read.
    const { start, messages: tail } = this.ending(this.length - this.#tail);
    const head = this.beginning(Math.min(this.#head, start));
    const skipped = this.length - head.length - tail.length;
    if (skipped === 0) return Promise.resolve([...head, ...tail]);
    const note: LLMMessage = {
      content: `Skipped ${skipped} messages.`,
      source: "System",
      type: "UserMessage",
    };
    return Promise.resolve([...head, note, ...tail]);
  }

  protected ownConfig(): { [key: string]: unknown } {
    return { head_size: this.#head, tail_size: this.#tail };
  }
}
