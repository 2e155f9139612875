import type { LLMMessage } from "../../models/llm-messages.ts";
import { withoutTrailingSpace } from "../../text/python-space.ts";

/** The `{history}` of a selector's prompt: what was said, each message followed by blank lines. */
export function historyOf(messages: readonly LLMMessage[]): string {
  const said = messages.flatMap((message) =>
    message.type === "UserMessage" || message.type === "AssistantMessage"
      ? [`${withoutTrailingSpace(`${message.source}: ${contentText(message.content)}`)}\n\n`]
      : [],
  );
  return said.join("\n");
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
