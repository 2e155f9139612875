import type { Scope } from "../../../contract/constants.ts";
import type { Message } from "../../../core/messages/message.ts";
import { isFile } from "../../../core/models/attached-files.ts";
import { withoutThoughts } from "./spoken-text.ts";

/**
 * A message as a shared conversation shows it: what it says, and the names of called tools. Everything that is not listed here
 * is left out, so that fields and events of later versions are not shared by mistake.
 *
 * @param may whether the credential permits a scope
 * @returns undefined for an event that is not shown
 */
export function sharedMessage(
  message: Message,
  may: (scope: Scope) => boolean,
): Message | undefined {
  const { id, source, created_at } = message;
  const base = { id, source, created_at, models_usage: null, metadata: {} };
  const tools = may("tools:read");
  switch (message.type) {
    case "TextMessage":
    case "StopMessage": {
      const { type, content } = message;
      return { ...base, type, content: withoutThoughts(content) };
    }
    case "HandoffMessage": {
      const { type, content, target } = message;
      return { ...base, type, content, target, context: [] };
    }
    case "ToolCallSummaryMessage": {
      const { type, content, tool_calls } = message;
      // The format of a summary may contain the arguments.
      const tells = tool_calls.some((call) => content.includes(call.arguments));
      if (tells && !tools) return undefined;
      return { ...base, type, content, tool_calls: [], results: [] };
    }
    case "MultiModalMessage": {
      const { type, content } = message;
      const parts = content.map((part) =>
        typeof part !== "string" && isFile(part) && !may("files:read") ? `(${part.name})` : part,
      );
      return { ...base, type, content: parts };
    }
    case "ToolCallRequestEvent": {
      const { type, content } = message;
      const calls = content.map((call) => ({
        id: call.id,
        name: call.name,
        arguments: tools ? call.arguments : "{}",
      }));
      return { ...base, type, content: calls };
    }
    case "ToolCallExecutionEvent": {
      const { type, content } = message;
      const results = content.map((result) => ({
        call_id: result.call_id,
        name: result.name,
        is_error: result.is_error,
        content: tools ? result.content : "",
      }));
      return { ...base, type, content: results };
    }
    default:
      return isStructured(message) ? { ...message, ...base } : undefined;
  }
}

function isStructured(
  message: Message,
): message is Extract<Message, { type: `StructuredMessage[${string}]` }> {
  return message.type.startsWith("StructuredMessage[");
}
