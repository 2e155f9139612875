import type { LLMMessage } from "../../models/llm-messages.ts";
import { onOneLine, withoutTrailingSpace } from "../../text/python-space.ts";
import type { ParticipantInfo } from "../group-chat-manager.ts";

/** The `{history}` of a selector's prompt: what was said, each message followed by blank lines. */
export function historyOf(messages: readonly LLMMessage[]): string {
  const said = messages.flatMap((message) =>
    message.type === "UserMessage" || message.type === "AssistantMessage"
      ? [`${withoutTrailingSpace(`${message.source}: ${contentText(message.content)}`)}\n\n`]
      : [],
  );
  return said.join("\n");
}

/** The `{roles}` of a selector's prompt: a line for each participant. */
export function rolesOf(participants: readonly ParticipantInfo[]): string {
  return participants
    .map(({ name, description }) => onOneLine(`${name}: ${description}`))
    .join("\n");
}

type Content = (LLMMessage & { type: "UserMessage" | "AssistantMessage" })["content"];

function contentText(content: Content): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      return "name" in part ? `${part.name}(${part.arguments})` : "<image>";
    })
    .join("\n");
}
