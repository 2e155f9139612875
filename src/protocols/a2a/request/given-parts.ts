import { fromBase64 } from "../../../core/base64.ts";
import type { JsonObject } from "../../../core/json.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import { A2AError } from "../errors.ts";
import type { GivenMessage, GivenPart } from "./params.ts";

/**
 * The message of a client as a chat message of the human.
 *
 * @throws A2AError for parts that no agent could read
 */
export function chatMessageOf({ messageId, parts }: GivenMessage): JsonObject {
  const content = parts.map((part, index) => contentOf(part, `message.parts[${index}]`));
  const texts = content.filter((part) => typeof part === "string");
  const about = { source: "user", id: messageId };
  return texts.length === content.length
    ? { type: "TextMessage", ...about, content: texts.join("\n") }
    : { type: "MultiModalMessage", ...about, content };
}

function contentOf(part: GivenPart, path: string): string | { data: string } {
  const { text, data, raw, mediaType = "" } = part;
  if (text !== undefined) return text;
  if (data !== undefined) return JSON.stringify(data);
  if (raw === undefined) {
    throw unsupported(path, "is a URL, which is not fetched: send the file itself as raw");
  }
  const bytes = bytesOf(raw, path);
  if (imageMediaType(raw) !== undefined) return { data: raw };
  if (!/^(text\/|application\/json\b)/.test(mediaType)) {
    throw unsupported(
      path,
      `has the media type ${JSON.stringify(mediaType.slice(0, 100))}: files must be text, JSON, PNG, JPEG, WebP or GIF`,
    );
  }
  return new TextDecoder().decode(bytes);
}

function bytesOf(raw: string, path: string): Uint8Array {
  try {
    return fromBase64(raw);
  } catch {
    throw new A2AError("INVALID_PARAMS", `${path}.raw must be base64`);
  }
}

function unsupported(path: string, message: string): A2AError {
  return new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `${path} ${message}.`);
}
