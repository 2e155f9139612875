import { isJsonObject, type Json } from "../json.ts";
import { fileAsText, fileNote, isFile, type AttachedFile } from "../models/attached-files.ts";
import type { UserMessage, UserPart } from "../models/llm-messages.ts";
import { formatPython } from "../text/format.ts";
import { pythonDataClass, pythonRepr } from "../text/python.ts";
import type { StructuredMessage } from "./chat-messages.ts";
import type { AgentEvent, ChatMessage, Message } from "./message.ts";
import { imageMediaType } from "../models/images.ts";
import { imageAsText } from "../models/shown-images.ts";
import type { CodeImage, CodeResult } from "../code/code-block.ts";

/** A message as text for people and conditions (AutoGen `to_text`). Lists print the way Python prints them. */
export function toText(message: Message): string {
  switch (message.type) {
    case "MultiModalMessage":
      return message.content.map((part) => partText(part, "<image>")).join("\n");
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
  return message.content.map((part) => partText(part, " [image]", fileAsText)).join("");
}

function partText(
  part: UserPart,
  image: string,
  fileText = (file: AttachedFile) => fileNote(file),
) {
  if (typeof part === "string") return part;
  return isFile(part) ? fileText(part) : image;
}

/** A chat message as an entry of a model's context (AutoGen `to_model_message`). */
export function toModelMessage(message: ChatMessage): UserMessage {
  return { content: modelContent(message), source: message.source, type: "UserMessage" };
}

function modelContent(message: ChatMessage): UserMessage["content"] {
  switch (message.type) {
    case "MultiModalMessage":
      return message.content;
    case "TextMessage":
      // The images made by code, for models with vision.
      return shownOutput({ output: message.content, images: imagesOf(message.metadata) });
    default:
      return contentText(message.content);
  }
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

// Without schemas: a team's object needs this as it starts.

/** The output for models, with the images that the code wrote, in the form of a tool's result. */
export function shownOutput({
  output,
  images = [],
}: Pick<CodeResult, "output" | "images">): string {
  const shown = images.map(({ path, data }) =>
    data === null ? `[Image ${path} is not shown]` : imageAsText({ data }),
  );
  return [output, ...shown].join("\n");
}

/** The images in the metadata of a message; none for metadata of another kind. */
export function imagesOf({ images }: { readonly [key: string]: string }): CodeImage[] {
  if (images === undefined) return [];
  try {
    const input: unknown = JSON.parse(images);
    return Array.isArray(input) && input.every(isCodeImage)
      ? input.map(({ path, data }) => ({ path, data }))
      : [];
  } catch {
    return [];
  }
}

function isCodeImage(value: unknown): value is CodeImage {
  if (!isJsonObject(value)) return false;
  const { path, data } = value;
  if (typeof path !== "string") return false;
  return data === null || (typeof data === "string" && imageMediaType(data) !== undefined);
}

// This module has no schemas, because every start of the Worker runs it.

const EVENT_TYPES: ReadonlySet<string> = new Set(
  // The list must be complete, or it does not compile.
  Object.keys({
    ToolCallRequestEvent: true,
    ToolCallExecutionEvent: true,
    CodeGenerationEvent: true,
    CodeExecutionEvent: true,
    UserInputRequestedEvent: true,
    MemoryQueryEvent: true,
    ModelClientStreamingChunkEvent: true,
    ThoughtEvent: true,
    SelectSpeakerEvent: true,
    SelectorEvent: true,
  } satisfies Record<AgentEvent["type"], true>),
);

/** True for an event; everything else is a chat message. */
export function isAgentEvent(message: Message): message is AgentEvent {
  return EVENT_TYPES.has(message.type);
}

/** True for a message that is meant for the other agents. An unknown type counts as a chat message if its name says so. */
export function isChatMessage(message: Message): message is ChatMessage {
  return !isAgentEvent(message) && !message.type.endsWith("Event");
}
