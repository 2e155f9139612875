import { bytesOfBase64, fromBase64 } from "../base64.ts";

export const PDF = "application/pdf";

/** The media types of texts, in lower case and without parameters. */
const TEXT =
  /^(text\/[\w.+-]+|application\/(json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|sql|javascript|[\w.-]+\+(json|xml|yaml)))$/;

/** The allowed media types, for error messages. */
export const ALLOWED_FILES =
  "PDF (application/pdf), texts (text/*, application/json, application/xml, application/yaml and their like), or PNG, JPEG, WebP or GIF pictures";

/** True for text, by the media type. */
export function isTextType(mediaType: string): boolean {
  return TEXT.test(mediaType);
}

/** True if base64 begins as a PDF does. */
export function isPdf(data: string): boolean {
  // Base64 of "%PDF-": its last character holds bits of the byte after it.
  return /^JVBERi[0-3]/.test(data);
}

/**
 * A file in a message: a PDF or a text, its bytes as base64 like those of an image. AutoGen has no files in messages.
 * `text` is the text of a PDF, for models that do not read PDF.
 */
export interface AttachedFile {
  data: string;
  name: string;
  media_type: string;
  text?: string | undefined;
}

/** True if a part of a message is a file. Images have no media type. */
export function isFile(part: unknown): part is AttachedFile {
  return typeof part === "object" && part !== null && "media_type" in part;
}

/** A file as a `data:` URI. */
export function fileDataUri({ data, media_type }: AttachedFile): string {
  return `data:${media_type};base64,${data}`;
}

/** The text of a file; undefined for a PDF whose text is unknown. */
export function textOfFile({ data, media_type, text }: AttachedFile): string | undefined {
  return media_type === PDF ? text : new TextDecoder().decode(fromBase64(data));
}

/**
 * A file for a model that cannot read it directly: its text between lines with its name, or a line that it cannot be
 * read.
 */
export function fileAsText(file: AttachedFile): string {
  const { name, media_type } = file;
  const text = textOfFile(file);
  if (text === undefined) return fileNote(file, ": this model does not read PDF");
  let tag = "file";
  // The closing line marks the end of the file, whatever the text contains.
  while (text.includes(`</${tag}>`)) tag += "_";
  return `<${tag} name=${JSON.stringify(name)} type="${media_type}">\n${text}\n</${tag}>`;
}

/** One line in place of a file. @param about added to the line */
export function fileNote({ data, name, media_type }: AttachedFile, about = ""): string {
  return `[File: ${name}, ${media_type}, ${bytesOfBase64(data)} bytes${about}]`;
}
