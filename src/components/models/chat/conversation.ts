import { ValueError } from "../../../core/errors.ts";
import type {
  AssistantMessage,
  LLMMessage,
  UserMessage,
} from "../../../core/models/llm-messages.ts";
import { withoutTrailingSpace } from "../../../core/text/python-space.ts";

/**
 * Merges consecutive system messages, for models that accept or heed only one. White space at its end is left out, as in
 * AutoGen, also where there is one message alone.
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
  const content = withoutTrailingSpace(texts.join("\n"));
  if (texts.length === 1 && content !== "" && content === texts[0]) return messages;
  const merged: LLMMessage[] = content === "" ? [] : [{ type: "SystemMessage", content }];
  return [...messages.slice(0, first), ...merged, ...messages.slice(end)];
}

/** Removes white space at the end of the conversation when the last message is the assistant's. */
export function trimLastAssistant(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const last = messages.at(-1);
  if (last?.type !== "AssistantMessage" || typeof last.content !== "string") return messages;
  const content = withoutTrailingSpace(last.content);
  return content === last.content ? messages : [...messages.slice(0, -1), { ...last, content }];
}

/**
 * Claude's models that refuse a conversation in which the assistant spoke last
 * (https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6#prefill-removal).
 */
export const WITHOUT_PREFILL =
  /^claude-((opus|sonnet)-4-[6-9]|(opus|sonnet|haiku|fable|mythos)-([5-9]|\d\d))/;

const CONTINUE: UserMessage = { type: "UserMessage", source: "user", content: "Continue." };

/** Asks the model to continue, where the assistant spoke last: an agent that has the floor again without a new message. */
export function endWithUser(messages: readonly LLMMessage[]): readonly LLMMessage[] {
  const last = messages.at(-1);
  const spoke = last?.type === "AssistantMessage" && typeof last.content === "string";
  return spoke ? [...messages, CONTINUE] : messages;
}

/** Stands between the results of tools and a user, for models that expect the assistant there. */
export const BRIDGE: AssistantMessage = {
  type: "AssistantMessage",
  source: "assistant",
  content: "I have the results.",
  thought: null,
};

/** The conversation with an assistant's message between the results of tools and a user's message. */
export function bridgeResults(messages: readonly LLMMessage[]): LLMMessage[] {
  return messages.flatMap((message, index) => {
    const before = messages[index - 1]?.type;
    const isBare = message.type === "UserMessage" && before === "FunctionExecutionResultMessage";
    return isBare ? [BRIDGE, message] : [message];
  });
}
