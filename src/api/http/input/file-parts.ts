import { beginningOf } from "../../../core/cut.ts";
import { getMimeType } from "hono/utils/mime";
import { fromBase64, isBase64 } from "../../../core/base64.ts";
import { ALLOWED_FILES, isPdf, isTextType, PDF } from "../../../core/models/attached-files.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import type { JsonObject } from "../../../core/json.ts";

/** Bytes that a request brings, and what it says of them. */
export interface GivenFile {
  /** Base64. */
  data: string;
  name: string | undefined;
  mediaType: string | undefined;
}

/** The media types that say nothing about the bytes. */
const GENERIC = /^(application|binary)\/(octet-stream|x-binary)$/;
const MARKDOWN = /\.(md|markdown)$/i;
const YAML = /\.ya?ml$/i;
// oxlint-disable-next-line no-control-regex -- such a name would break the lines that show it
const NAME = /^[^\u0000-\u001f\u007f]{1,255}$/;

/**
 * A file as a part of a message: an image as `{ data }`, a PDF or a text with its name and media type.
 *
 * @returns what is wrong with it, as the end of a sentence
 */
export function partOfFile({ data, name = "file", mediaType }: GivenFile): JsonObject | string {
  if (!isBase64(data)) return "must be base64";
  if (!NAME.test(name))
    return "must have a name of 1 to 255 characters, without control characters";
  const declared = mediaType?.split(";", 1)[0]?.trim().toLowerCase();
  const type = declared === undefined || GENERIC.test(declared) ? undefined : declared;
  const image = imageMediaType(data);
  if (image !== undefined) {
    if (type === undefined || /^image(\/|$)/.test(type)) return { data };
    return `has the media type ${quoted(type)}, but its bytes are those of ${image}`;
  }
  if (isPdf(data)) {
    if (type === undefined || type === PDF) return { data, name, media_type: PDF };
    return `has the media type ${quoted(type)}, but its bytes are those of a PDF`;
  }
  if (type === PDF) return "has the media type application/pdf, but does not begin with %PDF-";
  if (type !== undefined && !isTextType(type)) return notAllowed(type);
  if (!isText(data)) {
    const said = type === undefined ? "" : ` has the media type ${quoted(type)}, but`;
    return `${said} is not a text in UTF-8; it must be of ${ALLOWED_FILES}`.trimStart();
  }
  return { data, name, media_type: type ?? textTypeOf(name) };
}

function notAllowed(type: string): string {
  const unlike = type.startsWith("image/") ? "is not a PNG, JPEG, WebP or GIF picture" : "";
  return unlike || `has the media type ${quoted(type)}; it must be of ${ALLOWED_FILES}`;
}

function isText(data: string): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true, ignoreBOM: false })
      .decode(fromBase64(data))
      .includes("\0");
  } catch {
    return false;
  }
}

function textTypeOf(name: string): string {
  if (MARKDOWN.test(name)) return "text/markdown";
  if (YAML.test(name)) return "application/yaml";
  const type = getMimeType(name.toLowerCase())?.split(";", 1)[0] ?? "";
  return isTextType(type) ? type : "text/plain";
}

function quoted(type: string): string {
  return JSON.stringify(beginningOf(type, 100));
}
