import { isJsonObject, type Json } from "../json.ts";
import type { UserMessage } from "../models/llm-messages.ts";
import { formatPython } from "../text/format.ts";
import { pythonDataClass, pythonRepr } from "../text/python.ts";
import type { StructuredMessage } from "./chat-messages.ts";
import type { ChatMessage, Message } from "./message.ts";

/** A message as text for people and conditions (AutoGen `to_text`). Lists print the way Python prints them. */
export function toText(message: Message): string {
  switch (message.type) {
    case "MultiModalMessage":
      return message.content
        .map((part) => (typeof part === "string" ? part : "<image>"))
        .join("\n");
    case "ToolCallRequestEvent":
      return list(message.content.map((call) => pythonDataClass("FunctionCall", call)));
    case "ToolCallExecutionEvent":
      return list(
        message.content.map((result) => pythonDataClass("FunctionExecutionResult", result)),
      );
    case "MemoryQueryEvent":
      return list(message.content.map((content) => pythonDataClass("MemoryContent", content)));
    case "SelectSpeakerEvent":
      return pythonRepr(message.content);
    case "CodeExecutionEvent":
      return message.result.output;
    case "TextMessage":
    case "StopMessage":
    case "HandoffMessage":
    case "ToolCallSummaryMessage":
    case "CodeGenerationEvent":
    case "UserInputRequestedEvent":
    case "ModelClientStreamingChunkEvent":
    case "ThoughtEvent":
    case "SelectorEvent":
      return message.content;
    default:
      return openText(message);
  }
}

/** A chat message as text for a model, to be put into a longer text (AutoGen `to_model_text`). */
export function toModelText(message: ChatMessage): string {
  if (message.type !== "MultiModalMessage") return toText(message);
  return message.content.map((part) => (typeof part === "string" ? part : " [image]")).join("");
}

/** A chat message as an entry of a model's context (AutoGen `to_model_message`). */
export function toModelMessage(message: ChatMessage): UserMessage {
  return { content: modelContent(message), source: message.source, type: "UserMessage" };
}

function modelContent(message: ChatMessage): UserMessage["content"] {
  return message.type === "MultiModalMessage" ? message.content : contentText(message.content);
}

/** Structured messages, and messages of a type this version does not know, whose content may be anything. */
function openText(message: StructuredMessage): string {
  const { content, format_string } = message;
  const formatted = typeof format_string === "string" && isJsonObject(content);
  return formatted ? formatPython(format_string, content) : contentText(content);
}

function contentText(content: Json | undefined): string {
  if (content === undefined) return "";
  return typeof content === "string" ? content : JSON.stringify(content);
}

function list(items: readonly string[]): string {
  return `[${items.join(", ")}]`;
}
