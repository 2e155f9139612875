import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { fileAsText, isFile, textOfFile } from "../../../../core/models/attached-files.ts";
import { imageAsText } from "../../../../core/models/shown-images.ts";
import { dataUrlBytes } from "../../../../core/base64.ts";
import { type GivenFile, partOfFile } from "../../../http/input/file-parts.ts";
import { refusedAt } from "./parse.ts";
import type { Content } from "./entry.ts";

/** A part of a message's content, of either protocol. */
export interface ContentPart {
  type: string;
  text?: unknown;
  refusal?: unknown;
  image_url?: unknown;
  /** The file of chat completions. Responses have its fields in the part. */
  file?: unknown;
  file_data?: unknown;
  file_url?: unknown;
  file_id?: unknown;
  filename?: unknown;
}

type FileFields = Pick<ContentPart, "file_data" | "file_url" | "file_id" | "filename">;

/**
 * A message's content.
 *
 * @param path its place in the request
 * @throws ProblemError 422
 */
export function contentOf(content: string | readonly ContentPart[], path: string): Content {
  if (typeof content === "string") return content;
  const parts = content.map((part, index) => partOf(part, `${path}[${index}]`));
  const texts = parts.filter((part) => typeof part === "string");
  return texts.length === parts.length ? texts.join("\n") : parts;
}

/** A message's content where only text is possible. @throws ProblemError 422 */
export function textOf(content: string | readonly ContentPart[], path: string): string {
  const read = contentOf(content, path);
  if (typeof read === "string") return read;
  throw refusedAt(path, "must be text");
}

/** The output of a tool. @throws ProblemError 422 */
export function outputOf(content: string | readonly ContentPart[], path: string): string {
  const text = resultText(contentOf(content, path));
  if (text === undefined) throw refusedAt(path, NOT_IN_RESULTS);
  return text;
}

/** The content as the result of a tool, which is a text; undefined if it has a PDF or a file that would have to be fetched. */
export function resultText(content: Content): string | undefined {
  const texts = typeof content === "string" ? [content] : content.map(partAsText);
  return texts.includes(undefined) ? undefined : texts.join("\n");
}

export const NOT_IN_RESULTS =
  "must be texts, images and text files, as data: URLs: the results of tools have no others";

function partAsText(part: string | JsonObject): string | undefined {
  if (typeof part === "string") return part;
  if (isFile(part)) return textOfFile(part) === undefined ? undefined : fileAsText(part);
  return typeof part["data"] === "string" ? imageAsText({ data: part["data"] }) : undefined;
}

function partOf(part: ContentPart, path: string): string | JsonObject {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof part.text === "string") return part.text;
      throw refusedAt(`${path}.text`, "must be a text");
    case "refusal":
      return typeof part.refusal === "string" ? part.refusal : "";
    case "image_url":
    case "input_image":
      return imageOf(part, `${path}.image_url`);
    case "file":
      return fileOf(isJsonObject(part.file) ? part.file : {}, `${path}.file`);
    case "input_file":
      return fileOf(part, path);
    default:
      throw refusedAt(`${path}.type`, "is not supported: send text, images or files");
  }
}

/** An image as chat completions (`{ url }`) or responses (the URL) have it. */
function imageOf({ image_url: image, file_id }: ContentPart, path: string): JsonObject {
  const url = isJsonObject(image) ? image["url"] : image;
  if (typeof url === "string") return fromUrl(url, undefined, path);
  throw refusedAt(path, file_id === undefined ? "must be a URL of an image" : NOT_BY_ID);
}

function fileOf({ file_data, file_url, file_id, filename }: FileFields, path: string): JsonObject {
  const name = typeof filename === "string" && filename !== "" ? filename : undefined;
  if (typeof file_url === "string") return fromUrl(file_url, name, `${path}.file_url`);
  const contentPath = `${path}.file_data`;
  if (typeof file_data !== "string")
    throw refusedAt(contentPath, file_id == null ? "must be a data: URL, or base64" : NOT_BY_ID);
  if (file_data.startsWith("data:")) return fromUrl(file_data, name, contentPath);
  return partIn({ data: file_data, name, mediaType: undefined }, contentPath);
}

const NOT_BY_ID = "must hold the file: file_id is for parts of messages and input items";

/** A URL that is to be fetched stays a URL. */
function fromUrl(url: string, name: string | undefined, path: string): JsonObject {
  if (/^https?:\/\//i.test(url)) return { url, ...(name !== undefined && { name }) };
  const file = dataUrlBytes(url);
  if (file === undefined)
    throw refusedAt(path, "must be an https: URL, or a data: URL with base64");
  return partIn({ ...file, mediaType: file.mediaType || undefined, name }, path);
}

function partIn(file: GivenFile, path: string): JsonObject {
  const part = partOfFile(file);
  if (typeof part !== "string") return part;
  throw refusedAt(path, part);
}
