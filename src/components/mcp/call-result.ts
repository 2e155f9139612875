import type { JsonObject } from "../../core/json.ts";
import { bytesOfBase64 } from "../../core/base64.ts";
import { imageMediaType } from "../../core/models/images.ts";
import type { ResultContent, ToolResult } from "../../core/tools/tool.ts";
import { MAX_RESULT_BYTES, textResult } from "../../core/tools/tool-result.ts";
import type { ContentBlock } from "./answers/contents.ts";

/** The result of a call. */
export interface CallResult {
  content: readonly ContentBlock[];
  isError?: boolean | undefined;
}

/**
 * A result in the form that agents get: text and images, also those in resources; embedded texts as JSON (as in AutoGen);
 * audio, other bytes and links as a line of text; The whole is limited like every
 * tool's result.
 *
 * @param name the tool's name in the call
 * @param redact removes secrets
 */
export function toToolResult(
  name: string,
  { content, isError = false }: CallResult,
  redact: (text: string) => string,
): ToolResult {
  const parts = content.flatMap(asContents);
  let left = MAX_RESULT_BYTES;
  const result: ResultContent[] = [];
  for (const [index, part] of parts.entries()) {
    if (left <= 0) {
      result.push(text(`[Cut: ${parts.length - index} more parts of the result are left out.]`));
      break;
    }
    const fitting = fitted(name, part, redact, left);
    result.push(fitting);
    left -= bytesOf(fitting);
  }
  return { type: "ToolResult", name, result, is_error: isError };
}

/** The messages of Node and Chromium for an address that cannot be reached. */
const UNREACHABLE =
  /\b(E(NOTFOUND|AI_AGAIN|NETUNREACH|CONNREFUSED)|ERR_(INTERNET_DISCONNECTED|NAME_NOT_RESOLVED|ADDRESS_UNREACHABLE|CONNECTION_REFUSED))\b/;

/** The result of a program without a network: where it failed for that reason, the setting is named. */
export function withNetworkRemedy(result: ToolResult): ToolResult {
  const failed = result.result.some(
    (part) => part.type === "TextResultContent" && UNREACHABLE.test(part.content),
  );
  if (!result.is_error || !failed) return result;
  const remedy =
    "Programs have no network in this sandbox. Its setting SANDBOX_NETWORK=1 gives them the network of the sandbox.";
  return { ...result, result: [...result.result, text(remedy)] };
}

function fitted(
  name: string,
  part: ResultContent,
  redact: (text: string) => string,
  left: number,
): ResultContent {
  if (part.type === "TextResultContent") {
    const [cut] = textResult(name, redact(part.content), false, left).result;
    return cut ?? part;
  }
  return bytesOf(part) <= left ? part : text(note("Image", part.content.data, "too large to show"));
}

function bytesOf(part: ResultContent): number {
  return part.type === "TextResultContent"
    ? new TextEncoder().encode(part.content).length
    : part.content.data.length;
}

function asContents(block: ContentBlock): ResultContent[] {
  switch (block.type) {
    case "text":
      return [text(block.text)];
    case "image":
      return [image(block.data) ?? text(note("Image", block.data, block.mimeType))];
    case "audio":
      return [text(note("Audio", block.data, block.mimeType))];
    case "resource":
      return resourceContents(block);
    case "resource_link": {
      const { name, uri, mimeType, description } = block;
      const kind = mimeType === undefined ? "" : ` (${mimeType})`;
      return [text(`[Resource: ${name} ${uri}${kind}]${description ? ` ${description}` : ""}`)];
    }
  }
}

/** Undefined for a format that models do not see. */
function image(base64: string): ResultContent | undefined {
  const data = base64.replaceAll(/\s/g, "");
  if (imageMediaType(data) === undefined) return undefined;
  return { type: "ImageResultContent", content: { data } };
}

/** Models read no base64: bytes are shown, or named. */
function resourceContents(block: ResourceBlock): ResultContent[] {
  const { uri, mimeType, blob } = block.resource;
  if (blob === undefined) return [text(JSON.stringify(asAutoGenDumps(block)))];
  const picture = image(blob);
  const about = mimeType === undefined ? uri : `${uri}, ${mimeType}`;
  return [text(note("Resource", blob, about)), ...(picture ? [picture] : [])];
}

type ResourceBlock = Extract<ContentBlock, { type: "resource" }>;

function asAutoGenDumps({ type, resource, annotations }: ResourceBlock): JsonObject {
  const { uri, mimeType = null, text: content } = resource;
  const body: JsonObject = content === undefined ? { blob: "" } : { text: content };
  return {
    type,
    resource: { uri, mimeType, meta: null, ...body },
    annotations: annotations ?? null,
    meta: null,
  };
}

function note(kind: string, base64: string, about: string): string {
  return `[${kind}: ${about}, ${bytesOfBase64(base64)} bytes]`;
}

function text(content: string): ResultContent {
  return { type: "TextResultContent", content };
}
