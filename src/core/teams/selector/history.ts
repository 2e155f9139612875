import type { LLMMessage } from "../../models/llm-messages.ts";
import { pythonDataClass } from "../../text/python.ts";
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

/** Pictures and tool calls as they appear in other texts, too (`toText`). */
function contentText(content: Content): string {
  if (typeof content === "string") return content;
  const calls = content.filter((part) => typeof part === "object" && "arguments" in part);
  if (calls.length > 0)
    return `[${calls.map((call) => pythonDataClass("FunctionCall", call)).join(", ")}]`;
  return content.map((part) => (typeof part === "string" ? part : "<image>")).join("\n");
}
