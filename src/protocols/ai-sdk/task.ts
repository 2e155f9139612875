import type { Json, JsonObject } from "../../core/json.ts";
import { invalid } from "../../http/problem.ts";
import type { UIMessage, UIPart } from "./chat-request.ts";

/** Of a URL that holds an image. */
const IMAGE_DATA = /^data:image\/[\w.+-]+;base64,/;

/** Parts of messages that are for the page. */
const FOR_THE_PAGE = /^(data-|step-start$)/;

/**
 * A user's message as a chat message: its texts, and its images in their places.
 *
 * @param path of the message, in errors
 * @throws ProblemError 422 for other files and parts, and without any text or image
 */
export function chatMessageOf({ parts }: UIMessage, path: string): JsonObject {
  const content = parts.flatMap((part, index) => contentOf(part, `${path}.parts[${index}]`));
  if (content.length === 0) throw refused(`${path}.parts`, "must have a text or an image");
  const isText = content.every((one) => typeof one === "string");
  return isText
    ? { type: "TextMessage", source: "user", content: content.join("\n") }
    : { type: "MultiModalMessage", source: "user", content };
}

function contentOf(part: UIPart, path: string): Json[] {
  const { type, text, url } = part;
  if (FOR_THE_PAGE.test(type)) return [];
  if (type === "text") {
    if (typeof text !== "string") throw refused(`${path}.text`, "must be a text");
    return [text];
  }
  if (type !== "file") {
    throw refused(`${path}.type`, 'must be "text", "file" or a data part in a user\'s message');
  }
  const data = typeof url === "string" ? url.replace(IMAGE_DATA, "") : url;
  if (typeof data !== "string" || data === url)
    throw refused(`${path}.url`, "must be a data: URL of an image in base64");
  return [{ data }];
}

function refused(path: string, message: string): Error {
  return invalid("invalid_task", "The user's message is invalid.", [{ path, message }]);
}
