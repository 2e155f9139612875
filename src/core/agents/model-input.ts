import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import type { ChatMessage } from "../messages/message.ts";
import { toModelMessage } from "../messages/views.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import type { LLMMessage, SystemMessage } from "../models/llm-messages.ts";
import { visibleMessages } from "../models/visible-messages.ts";

/** Adds the new messages to the model context; the context that a handoff carries comes first. */
export function remember(context: ChatCompletionContext, messages: readonly ChatMessage[]): void {
  for (const message of messages) {
    if (message.type === "HandoffMessage") {
      for (const earlier of message.context) context.addMessage(earlier);
    }
    context.addMessage(toModelMessage(message));
  }
}

/** The parts of a model's input. */
export interface ModelInput {
  systemMessage: SystemMessage | null;
  modelContext: ChatCompletionContext;
  modelClient: ChatCompletionClient;
}

/** The messages for the model: the system message and the context, without images for models without vision. */
export async function modelMessages(input: ModelInput): Promise<LLMMessage[]> {
  const { systemMessage, modelContext, modelClient } = input;
  const context = await modelContext.getMessages();
  const messages = systemMessage === null ? context : [systemMessage, ...context];
  return visibleMessages(modelClient, messages);
}
