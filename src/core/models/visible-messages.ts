import type { ChatCompletionClient } from "./chat-completion-client.ts";
import type { LLMMessage } from "./llm-messages.ts";

/** The messages for a model: images become the text `<image>` for a model without vision. */
export function visibleMessages(
  { modelInfo }: Pick<ChatCompletionClient, "modelInfo">,
  messages: LLMMessage[],
): LLMMessage[] {
  return modelInfo.vision ? messages : messages.map(withoutImages);
}

function withoutImages(message: LLMMessage): LLMMessage {
  if (message.type !== "UserMessage" || typeof message.content === "string") return message;
  const parts = message.content.map((part) => (typeof part === "string" ? part : "<image>"));
  return { ...message, content: parts.join("\n") };
}
