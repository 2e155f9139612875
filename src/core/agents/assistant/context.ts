import { createMessage } from "../../messages/create.ts";
import type { MemoryQueryEvent } from "../../messages/agent-events.ts";
import type { ChatMessage } from "../../messages/message.ts";
import { toModelMessage } from "../../messages/views.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { LLMMessage } from "../../models/llm-messages.ts";
import { visibleMessages } from "../../models/visible-messages.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import type { AssistantSettings } from "./settings.ts";

/** Puts what is new into the model context; a handoff brings its own context along, which comes first. */
export function remember(context: ChatCompletionContext, messages: readonly ChatMessage[]): void {
  for (const message of messages) {
    if (message.type === "HandoffMessage") {
      for (const earlier of message.context) context.addMessage(earlier);
    }
    context.addMessage(toModelMessage(message));
  }
}

/** Lets every memory add to the model context; one event per memory that had something to say. */
export async function consultMemory(
  { name, memory, modelContext }: AssistantSettings,
  ctx: TurnContext,
): Promise<MemoryQueryEvent[]> {
  const events: MemoryQueryEvent[] = [];
  for (const [index, store] of memory.entries()) {
    const content = await store.updateContext(modelContext, ctx.scope(`memory:${index}`));
    if (content.length === 0) continue;
    events.push(
      createMessage<MemoryQueryEvent>(ctx, { type: "MemoryQueryEvent", source: name, content }),
    );
  }
  return events;
}

/** What the model is sent: the system message and the context, without pictures for models that do not see. */
export async function modelMessages(settings: AssistantSettings): Promise<LLMMessage[]> {
  const { systemMessage, modelContext, modelClient } = settings;
  const context = await modelContext.getMessages();
  const messages = systemMessage === null ? context : [systemMessage, ...context];
  return visibleMessages(modelClient, messages);
}
