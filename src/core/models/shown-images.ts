import { bytesOfBase64 } from "../base64.ts";
import { imageMediaType } from "./images.ts";
import type { ImageContent, LLMMessage } from "./llm-messages.ts";

// As in AutoGen, a tool's result is a text, and an image in it is `[Image: ...]` with the image as base64. Messages and
// events keep that text. A model with vision gets the image, and other models read that there was one.

const IMAGE = /\[Image: ([A-Za-z0-9+/]{16,}={0,2})\]/g;

/** The image in the form of a tool's result. */
export function imageAsText({ data }: ImageContent): string {
  return `[Image: ${data}]`;
}

/** One line in place of an image. */
export function imageNote({ data }: ImageContent, about = ""): string {
  return `[Image: ${imageMediaType(data) ?? "unknown format"}, ${bytesOfBase64(data)} bytes${about}]`;
}

export function hasImages(text: string): boolean {
  return imagesIn(text).length > 0;
}

/** A text with images as a list of parts; a text without images unchanged. */
export function splitImages(text: string): (string | ImageContent)[] {
  const parts: (string | ImageContent)[] = [];
  let end = 0;
  for (const { 0: found, 1: data = "", index } of imagesIn(text)) {
    if (index > end) parts.push(text.slice(end, index));
    parts.push({ data });
    end = index + found.length;
  }
  if (end < text.length || parts.length === 0) parts.push(text.slice(end));
  return parts;
}

/** A text with a line in place of each image. @param about added to the line */
export function withoutImages(text: string, about = ""): string {
  if (!text.includes("[Image: ")) return text;
  return splitImages(text)
    .map((part) => (typeof part === "string" ? part : imageNote(part, about)))
    .join("");
}

/**
 * A message with the images in its texts as image parts in user messages for models with vision, and as lines
 * elsewhere. Results of tools stay unchanged: each API has its own place for their images.
 */
export function showImages(message: LLMMessage, sees: boolean): LLMMessage {
  switch (message.type) {
    case "SystemMessage":
      return withText(message, withoutImages(message.content));
    case "AssistantMessage":
      return typeof message.content === "string"
        ? withText({ ...message, content: message.content }, withoutImages(message.content))
        : message;
    case "UserMessage": {
      const { content } = message;
      const parts = typeof content === "string" ? [content] : content;
      if (!parts.some((part) => typeof part === "string" && part.includes("[Image: ")))
        return message;
      const shown = parts.flatMap((part) => {
        if (typeof part !== "string") return [part];
        return sees ? splitImages(part) : [withoutImages(part)];
      });
      const [only] = shown;
      const isText = typeof content === "string" && shown.length === 1 && typeof only === "string";
      return { ...message, content: isText ? only : shown };
    }
    case "FunctionExecutionResultMessage":
      return message;
  }
}

function withText<M extends { content: string }>(message: M, content: string): M {
  return content === message.content ? message : { ...message, content };
}

function imagesIn(text: string): RegExpExecArray[] {
  if (!text.includes("[Image: ")) return [];
  return [...text.matchAll(IMAGE)].filter(([, data = ""]) => imageMediaType(data) !== undefined);
}
