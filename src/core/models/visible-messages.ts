import type { ChatCompletionClient } from "./chat-completion-client.ts";
import type { LLMMessage } from "./llm-messages.ts";

/** The messages as a model can take them: one that does not see gets `<image>` where a picture stands. */
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
