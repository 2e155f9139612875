import type { HumanRequest } from "../../../../contract/run.ts";
import { asJson, type Json } from "../../../../core/json.ts";
import type { AgentEvent, ChatMessage } from "../../../../core/messages/message.ts";
import { fileDataUri, isFile, type AttachedFile } from "../../../../core/models/attached-files.ts";
import { imageDataUri, imageMediaType } from "../../../../core/models/images.ts";
import { toText } from "../../../../core/messages/views.ts";
import type { ImageContent } from "../../../../core/models/llm-messages.ts";
import type { Chunk } from "./chunk.ts";

/** Events that say what an agent has done; others only inform about what happens at the moment. */
const KEPT: ReadonlySet<string> = new Set(["CodeGenerationEvent", "CodeExecutionEvent"]);
const KNOWN_NEWS: ReadonlySet<string> = new Set([
  "SelectSpeakerEvent",
  "SelectorEvent",
  "MemoryQueryEvent",
  "UserInputRequestedEvent",
]);

/** An event as it is. Events of later versions are kept, too. */
export function eventPart(event: AgentEvent): Chunk {
  const kept = KEPT.has(event.type) || !KNOWN_NEWS.has(event.type);
  return {
    type: "data-event",
    id: event.id,
    data: asJson(event),
    ...(!kept && { transient: true }),
  };
}

/** The data of a message besides its text; undefined for a message that is only a text. */
export function messagePart(message: ChatMessage): Chunk | undefined {
  const { id, source, type } = message;
  switch (message.type) {
    case "TextMessage":
    case "StopMessage":
    case "ToolCallSummaryMessage":
    case "MultiModalMessage":
      return undefined;
    case "HandoffMessage":
      return { type: "data-handoff", id, data: { source, target: message.target } };
    default:
      return {
        type: "data-output",
        id,
        data: { source, type, content: (message as { content?: Json }).content ?? null },
      };
  }
}

type FilePart = { type: "file"; url: string; mediaType: string; filename?: string };

/** An image or a file of a message. */
export function filePart(part: ImageContent | AttachedFile): FilePart {
  const type = "file";
  if (isFile(part))
    return { type, url: fileDataUri(part), mediaType: part.media_type, filename: part.name };
  return { type, url: imageDataUri(part), mediaType: imageMediaType(part.data) ?? "image/png" };
}

/** A message that a user has sent into the run. */
export function steeringPart(message: ChatMessage): Chunk {
  const { id, source } = message;
  return { type: "data-steering", id, data: { source, content: toText(message) } };
}

/** A question that the user's next message answers. */
export function questionPart({ id, source, prompt, created_at, expires_at }: HumanRequest): Chunk {
  return { type: "data-question", id, data: { id, source, prompt, created_at, expires_at } };
}
