import type { CreateResult } from "./chat-completion-client.ts";
import type { AssistantMessage, FunctionCall } from "./llm-messages.ts";

/** A text answer of a model. */
export type TextResult = CreateResult & { content: string };

/** A model's answer with tool calls. */
export type CallsResult = CreateResult & { content: FunctionCall[] };

/** A model's answer as a message of the conversation for the next request. */
export function assistantMessage(
  { content, thought = null, troupe }: CreateResult,
  source: string,
): AssistantMessage {
  return { content, thought, source, type: "AssistantMessage", ...(troupe && { troupe }) };
}
