import * as z from "zod";
import { type AnyComponentDefinition, componentDefinition } from "../component/component.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
} from "./base-chat-completion-context.ts";

const configSchema = z.object({ initial_messages: initialMessagesSchema });

/** Shows the model everything (AutoGen `UnboundedChatCompletionContext`). */
export class UnboundedChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.model_context.UnboundedChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: (config) => new UnboundedChatCompletionContext(config.initial_messages),
  });

  readonly definition = UnboundedChatCompletionContext.component;

  getMessages(): Promise<LLMMessage[]> {
    return Promise.resolve(this.slice(0));
  }

  protected ownConfig(): { [key: string]: unknown } {
    return {};
  }
}
