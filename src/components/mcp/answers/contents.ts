import * as z from "zod";
import { fromBase64 } from "../../../core/base64.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import { annotationsSchema, withoutGaps } from "./lists.ts";

// The result of a call at a server. A part that cannot be read becomes a line of text that says so: the effect has
// happened, and the rest of its result counts.

const nullish = z.string().nullish().catch(null);

const resourceSchema = z.object({
  uri: z.string().catch(""),
  mimeType: nullish,
  text: nullish,
  blob: nullish,
});

/** A part of a result. */
export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource"; resource: ResourceContents; annotations?: JsonObject }
  | {
      type: "resource_link";
      uri: string;
      name: string;
      description?: string;
      mimeType?: string;
    };

/** The contents of a resource: a text, or bytes as base64. */
export type ResourceContents = { uri: string; mimeType?: string } & (
  | { text: string; blob?: undefined }
  | { blob: string; text?: undefined }
);

const UNKNOWN_BYTES = "application/octet-stream";

/** The result of a call with parts that are valid, in every shape that servers write. */
export function readCallResult(input: Json): JsonObject {
  const result: JsonObject = isJsonObject(input) ? input : { content: input };
  const { content, structuredContent, isError, toolResult, _meta, ...others } = result;
  const parts = readContents(content);
  const structured = structuredContent ?? toolResult ?? undefined;
  // As text it keeps numbers that the SDK's parsing would change.
  if (structured !== undefined && parts.length === 0) parts.push(textOf(structured));
  const { resultType: _, ...said } = others;
  if (content === undefined && structured === undefined && Object.keys(said).length > 0) {
    // The server left out the envelope of its result.
    parts.push(textOf(said));
  }
  return withoutGaps({
    ...others,
    content: parts,
    ...(isJsonObject(structured) && { structuredContent: structured }),
    isError: isError === true || isError === "true" || isError === 1,
    ...(isJsonObject(_meta) && { _meta }),
  });
}

/** The contents of a resource, as `resources/read` gives them. */
export function readResourceResult(raw: Json): JsonObject {
  const result: JsonObject = isJsonObject(raw) ? raw : { contents: raw };
  const contents = [result["contents"] ?? []].flat().map((one) => {
    const read = isJsonObject(one) ? readContentsOf(one) : lineAbout("resource", one);
    return typeof read === "string" ? { uri: uriOf(one), text: read } : read;
  });
  return withoutGaps({ ...result, contents, _meta: metaOf(result) });
}

/** A prompt, as `prompts/get` gives it. A message has one part. */
export function readPromptResult(input: Json): JsonObject {
  const result: JsonObject = isJsonObject(input) ? input : { messages: input };
  const messages = [result["messages"] ?? []].flat().flatMap((message) => {
    const { role = null, content = message } = isJsonObject(message) ? message : {};
    return readContents(content).map((part) => ({
      role: role === "assistant" ? role : "user",
      content: part,
    }));
  });
  const { description } = result;
  return withoutGaps({
    ...result,
    messages,
    description: typeof description === "string" ? description : undefined,
    _meta: metaOf(result),
  });
}

/** A single part, or a text, counts as a list of one. */
function readContents(input: Json | undefined): ContentBlock[] {
  if (input === undefined || input === null) return [];
  return Array.isArray(input) ? input.map(readBlock) : [readBlock(input)];
}

function readBlock(input: Json): ContentBlock {
  if (!isJsonObject(input)) return typeof input === "string" ? textOf(input) : damaged("", input);
  const { type = typeof input["text"] === "string" ? "text" : undefined } = input;
  const annotations = annotationsSchema.parse(input["annotations"]);
  const about = annotations === undefined ? {} : { annotations: withoutGaps(annotations) };
  switch (type) {
    case "text":
      return input["text"] == null
        ? damaged("text", input)
        : { ...textOf(input["text"]), ...about };
    case "image":
    case "audio":
      return { ...readMedia(type, input), ...about };
    case "resource": {
      const { resource } = input;
      const read = isJsonObject(resource) ? readContentsOf(resource) : lineAbout(type, input);
      return typeof read === "string" ? textOf(read) : { type, resource: read, ...about };
    }
    case "resource_link": {
      const { uri, name, description, mimeType } = input;
      if (typeof uri !== "string") return damaged(type, input);
      return {
        type,
        uri,
        name: typeof name === "string" ? name : uri,
        ...(typeof description === "string" && { description }),
        ...(typeof mimeType === "string" && { mimeType }),
        ...about,
      };
    }
    default:
      return textOf(`[A part of a type that is unknown here: ${JSON.stringify(input)}]`);
  }
}

/** Some servers write a `data:` URL, or base64 for URLs. */
function readMedia(type: "image" | "audio", { data, mimeType }: JsonObject): ContentBlock {
  const [, declared, inURL] =
    typeof data === "string" ? (/^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(data) ?? []) : [];
  const bytes = typeof data === "string" ? base64In(inURL ?? data) : undefined;
  const about = [mimeType, declared]
    .filter((one) => typeof one === "string")
    .find((one) => one !== "");
  if (bytes === undefined) {
    return textOf(
      `[Damaged ${type}: ${about === undefined ? "" : `${about}, `}its data is not base64]`,
    );
  }
  return { type, data: bytes, mimeType: about ?? imageMediaType(bytes) ?? UNKNOWN_BYTES };
}

/** A line where there are none that can be read. */
function readContentsOf(input: JsonObject): ResourceContents | string {
  const { uri, mimeType, text, blob } = resourceSchema.parse(input);
  const about = { uri, ...(mimeType != null && { mimeType }) };
  if (text != null) return { ...about, text };
  if (blob == null) return lineAbout("resource", input);
  const bytes = base64In(blob);
  return bytes === undefined
    ? `[Damaged resource: ${uri || "without a uri"}, its blob is not base64]`
    : { ...about, blob: bytes };
}

/** Standard base64 of the same bytes; undefined for what is not base64. */
function base64In(input: string): string | undefined {
  const data = input.replaceAll(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  try {
    fromBase64(data);
    return data;
  } catch {
    return undefined;
  }
}

function damaged(type: string, input: Json): ContentBlock {
  return textOf(lineAbout(type, input));
}

function lineAbout(type: string, input: Json): string {
  return `[Damaged ${type || "part"}: ${JSON.stringify(input)}]`;
}

function textOf(value: Json): { type: "text"; text: string } {
  return { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) };
}

function uriOf(input: Json): string {
  return isJsonObject(input) && typeof input["uri"] === "string" ? input["uri"] : "";
}

function metaOf({ _meta }: JsonObject): JsonObject | undefined {
  return isJsonObject(_meta) ? _meta : undefined;
}
