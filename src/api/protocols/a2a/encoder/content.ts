import type { ChatMessage, Message } from "../../../../core/messages/message.ts";
import { toText } from "../../../../core/messages/views.ts";
import { isFile } from "../../../../core/models/attached-files.ts";
import { imageMediaType } from "../../../../core/models/images.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { taskId } from "../wire/ids.ts";
import type { A2AMessage, Artifact, A2APart } from "../wire/wire.ts";

const TEXT = "text/plain";
export const JSON_TYPE = "application/json";

/** The id of the artifact that is the answer of a run. While the run is active, it has the text that an agent is writing. */
export const ANSWER = "answer";

/** The content of a chat message. At least one part. */
export function partsOf(message: ChatMessage): A2APart[] {
  if (message.type === "MultiModalMessage") {
    const parts = message.content.map((part) => {
      if (typeof part === "string") return textPart(part);
      if (isFile(part)) return { raw: part.data, mediaType: part.media_type, filename: part.name };
      return { raw: part.data, mediaType: imageMediaType(part.data) ?? "image/png" };
    });
    return parts.length === 0 ? [textPart("")] : parts;
  }
  if (isText(message)) return [textPart(toText(message))];
  return [{ data: (message as { content?: A2APart["data"] }).content ?? {}, mediaType: JSON_TYPE }];
}

/** True if the message is a text and nothing else. */
export function isText(message: ChatMessage): boolean {
  return typeof message.content === "string";
}

export function textPart(text: string): A2APart {
  return { text, mediaType: TEXT };
}

/** A chat message of a run as a message of its task. */
export function messageOf(
  run: Pick<RunInfo, "id" | "team_id"> & { contextId: string },
  message: ChatMessage,
  role: A2AMessage["role"],
): A2AMessage {
  return {
    messageId: message.id,
    contextId: run.contextId,
    taskId: taskId(run),
    role,
    parts: partsOf(message),
    metadata: metadataOf(message),
  };
}

/** The whole answer. */
export function answerOf(message: ChatMessage): Artifact {
  return {
    artifactId: ANSWER,
    name: message.source,
    parts: partsOf(message),
    metadata: { ...metadataOf(message), "troupe/message_id": message.id },
  };
}

function metadataOf({ source, type }: Message): Record<string, string> {
  return { "troupe/source": source, "troupe/type": type };
}
