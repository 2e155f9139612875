import { ValueError } from "../../core/errors.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";

/**
 * Merges consecutive system messages, for models that accept or heed only one.
 * @throws ValueError when other messages stand between them
 */
export function mergeSystemMessages(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const first = messages.findIndex((message) => message.type === "SystemMessage");
  if (first === -1) return messages;
  let end = first;
  const texts: string[] = [];
  for (let message = messages[end]; message?.type === "SystemMessage"; message = messages[++end])
    texts.push(message.content);
  if (messages.findLastIndex((message) => message.type === "SystemMessage") >= end)
    throw new ValueError(
      "The model accepts one system message, and there are several with other messages in between " +
        "(model_info.multiple_system_messages is false)",
    );
  if (texts.length === 1 && texts[0]?.trim() !== "") return messages;
  const content = texts.join("\n").trimEnd();
  const merged: LLMMessage[] = content === "" ? [] : [{ type: "SystemMessage", content }];
  return [...messages.slice(0, first), ...merged, ...messages.slice(end)];
}

/** Removes white space at the end of the conversation when the last message is the assistant's. */
export function trimLastAssistant(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const last = messages.at(-1);
  if (last?.type !== "AssistantMessage" || typeof last.content !== "string") return messages;
  const content = last.content.trimEnd();
  return content === last.content ? messages : [...messages.slice(0, -1), { ...last, content }];
}
