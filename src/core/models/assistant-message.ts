import type { CreateResult } from "./chat-completion-client.ts";
import type { AssistantMessage, FunctionCall } from "./llm-messages.ts";

/** A model's answer whose content is text. */
export type TextResult = CreateResult & { content: string };

/** A model's answer that asks for tool calls. */
export type CallsResult = CreateResult & { content: FunctionCall[] };

/** A model's answer as a message of the conversation that the model is asked with next. */
export function assistantMessage(
  { content, thought = null, troupe }: CreateResult,
  source: string,
): AssistantMessage {
  return { content, thought, source, type: "AssistantMessage", ...(troupe && { troupe }) };
}
