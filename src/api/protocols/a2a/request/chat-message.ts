import type { Json, JsonObject } from "../../../../core/json.ts";
import { isFile, PDF, textOfFile } from "../../../../core/models/attached-files.ts";
import { isBase64 } from "../../../../core/base64.ts";
import { partOfFile } from "../../../http/input/file-parts.ts";
import { A2AError } from "../wire/errors.ts";
import type { SentMessage, SentPart } from "./params.ts";

/**
 * The message of a client as a chat message of the human.
 *
 * @throws A2AError for parts that no agent could read
 */
export function chatMessageOf({ messageId, parts }: SentMessage): JsonObject {
  const content = parts.map((part, index) => contentOf(part, `message.parts[${index}]`));
  const texts = content.filter((part) => typeof part === "string");
  const about = { source: "user", id: messageId };
  return texts.length === content.length
    ? { type: "TextMessage", ...about, content: texts.join("\n") }
    : { type: "MultiModalMessage", ...about, content };
}

function contentOf(part: SentPart, path: string): Json {
  const { text, data, raw, url, filename, mediaType } = part;
  if (text !== undefined) return text;
  if (data !== undefined) return JSON.stringify(data);
  if (raw === undefined) {
    return {
      url: url ?? "",
      ...(filename !== undefined && { name: filename }),
      ...(mediaType !== undefined && { media_type: mediaType }),
    };
  }
  if (!isBase64(raw)) throw new A2AError("INVALID_PARAMS", `${path}.raw must be base64`);
  const read = partOfFile({ data: raw, name: filename, mediaType });
  if (typeof read === "string") {
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `${path} ${read}.`);
  }
  // A text without a name is as good as a text part.
  const isNamed = filename !== undefined || !isFile(read) || read.media_type === PDF;
  return isNamed ? read : (textOfFile(read) ?? "");
}
