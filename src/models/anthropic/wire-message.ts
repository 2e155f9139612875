import type {
  AssistantMessage,
  ImageContent,
  LLMMessage,
  UserMessage,
} from "../../core/models/llm-messages.ts";
import { imageMediaType } from "../../core/models/images.ts";
import { argumentsOf } from "../chat/tool-arguments.ts";
import type { ModelAbilities } from "../model-abilities.ts";

/**
 * A message as the JSON of one element of the request's `messages`; empty for one that is left out. The API refuses blank
 * texts, and has the system message in a field of its own.
 */
export function writeMessage(message: LLMMessage, abilities: ModelAbilities): string {
  switch (message.type) {
    case "SystemMessage":
      return "";
    case "UserMessage":
      return element("user", userContent(message, abilities));
    case "AssistantMessage":
      return element("assistant", assistantContent(message));
    case "FunctionExecutionResultMessage":
      return element(
        "user",
        message.content.map(({ call_id, content, is_error }) => ({
          type: "tool_result",
          tool_use_id: call_id,
          content,
          ...(is_error === true ? { is_error } : {}),
        })),
      );
  }
}

function element(role: "user" | "assistant", content: string | object[]): string {
  const isEmpty = typeof content === "string" ? content.trim() === "" : content.length === 0;
  return isEmpty ? "" : JSON.stringify({ role, content });
}

function userContent({ content, source }: UserMessage, abilities: ModelAbilities) {
  if (typeof content === "string") return content;
  return content.flatMap((part) => {
    if (typeof part === "string") return textBlocks(part);
    abilities.checkImage(source);
    return [imageBlock(part)];
  });
}

function assistantContent({ content, thought }: AssistantMessage) {
  if (typeof content === "string") return content;
  const calls = content.map((call) => ({
    type: "tool_use",
    id: call.id,
    name: call.name,
    input: argumentsOf(call),
  }));
  return [...textBlocks(thought ?? ""), ...calls];
}

function textBlocks(text: string): object[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function imageBlock({ data }: ImageContent): object {
  const media_type = imageMediaType(data) ?? "image/jpeg";
  return { type: "image", source: { type: "base64", media_type, data } };
}
