import type { Json, JsonObject } from "../../../core/json.ts";
import { dataUrlBytes } from "../../../core/base64.ts";
import { partOfFile } from "../../http/input/file-parts.ts";
import { invalid } from "../../http/endpoint/problem.ts";
import type { UIMessage, UIPart } from "./chat-request.ts";

/** Parts of messages that are for the page. */
const FOR_THE_PAGE = /^(data-|step-start$)/;

/**
 * A user's message as a chat message: its texts, and its images and files in their places.
 *
 * @param path how errors name the message
 * @throws ProblemError 422 for files and parts that cannot be read, and without any
 */
export function chatMessageOf({ parts }: UIMessage, path: string): JsonObject {
  const content = parts.flatMap((part, index) => contentOf(part, `${path}.parts[${index}]`));
  if (content.length === 0) throw refused(`${path}.parts`, "must have a text, an image or a file");
  const isText = content.every((one) => typeof one === "string");
  return isText
    ? { type: "TextMessage", source: "user", content: content.join("\n") }
    : { type: "MultiModalMessage", source: "user", content };
}

/** The text of a user's message into a run. @throws ProblemError 422 for one with images or files */
export function textOf(message: UIMessage, path: string): string {
  const { content } = chatMessageOf(message, path);
  if (typeof content === "string") return content;
  throw refused(
    `${path}.parts`,
    "must be texts only while a run is active, which takes the message",
  );
}

function contentOf(part: UIPart, path: string): Json[] {
  const { type, text, url, filename, mediaType } = part;
  if (FOR_THE_PAGE.test(type)) return [];
  if (type === "text") {
    if (typeof text !== "string") throw refused(`${path}.text`, "must be a text");
    return [text];
  }
  if (type !== "file") {
    throw refused(`${path}.type`, 'must be "text", "file" or a data part in a user\'s message');
  }
  const contentPath = `${path}.url`;
  const name = typeof filename === "string" && filename !== "" ? filename : undefined;
  const said = typeof mediaType === "string" && mediaType !== "" ? mediaType : undefined;
  if (typeof url === "string" && /^https?:\/\//i.test(url)) {
    // Its media type is the one that the server answers with.
    return [{ url, ...(name !== undefined && { name }) }];
  }
  const inUrl = typeof url === "string" ? dataUrlBytes(url) : undefined;
  if (inUrl === undefined)
    throw refused(contentPath, "must be an https: URL, or a data: URL with base64");
  const read = partOfFile({ data: inUrl.data, name, mediaType: said ?? inUrl.mediaType });
  if (typeof read === "string") throw refused(contentPath, read);
  return [read];
}

function refused(path: string, message: string): Error {
  return invalid("invalid_task", "The user's message is invalid.", [{ path, message }]);
}
