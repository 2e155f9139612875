import * as z from "zod";
import type { JsonObject } from "../../core/json.ts";
import { bytesOfBase64 } from "../../core/models/attached-files.ts";
import { imageMediaType } from "../../core/models/images.ts";
import type { ResultContent, ToolResult } from "../../core/tools/tool.ts";
import { MAX_RESULT_BYTES, textResult } from "../../core/tools/tool-result.ts";

const nullish = z.string().nullish();

const resourceSchema = z.object({
  uri: z.string(),
  mimeType: nullish,
  text: nullish,
  blob: nullish,
});

const blockSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal("resource"),
    resource: resourceSchema,
    annotations: z.json().optional(),
  }),
  z.object({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: z.string(),
    description: nullish,
    mimeType: nullish,
  }),
]);

/** The result of a call as the protocol defines it. */
export interface CallResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: boolean | undefined;
}

/**
 * A result in the form that agents get: text and images, also those in resources; embedded texts as JSON (as in AutoGen);
 * audio, other bytes and links as a line of text; structured content if there is no other. The whole is limited like every
 * tool's result.
 *
 * @param name the tool's name in the call
 * @param redact removes secrets
 */
export function toToolResult(
  name: string,
  { content, structuredContent, isError = false }: CallResult,
  redact: (text: string) => string,
): ToolResult {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const shown = blocks.flatMap(asContents);
  if (shown.length === 0 && structuredContent !== undefined) {
    shown.push(text(JSON.stringify(structuredContent)));
  }
  let left = MAX_RESULT_BYTES;
  const result: ResultContent[] = [];
  for (const [index, part] of shown.entries()) {
    if (left <= 0) {
      result.push(text(`[Cut: ${shown.length - index} more parts of the result are left out.]`));
      break;
    }
    const fitting = fitted(name, part, redact, left);
    result.push(fitting);
    left -= bytesOf(fitting);
  }
  return { type: "ToolResult", name, result, is_error: isError };
}

/** How Node and Chromium say that an address cannot be reached. */
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

function asContents(block: unknown): ResultContent[] {
  const { data } = blockSchema.safeParse(block);
  if (data === undefined) return [text(JSON.stringify(block) ?? "")];
  switch (data.type) {
    case "text":
      return [text(data.text)];
    case "image":
      return [image(data.data) ?? text(note("Image", data.data, data.mimeType))];
    case "audio":
      return [text(note("Audio", data.data, data.mimeType))];
    case "resource":
      return resourceContents(data);
    case "resource_link": {
      const { name, uri, mimeType, description } = data;
      const kind = mimeType == null ? "" : ` (${mimeType})`;
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
  const { uri, mimeType, text: content, blob } = block.resource;
  if (content != null || blob == null) return [text(JSON.stringify(asAutoGenDumps(block)))];
  const shown = image(blob);
  const about = mimeType == null ? uri : `${uri}, ${mimeType}`;
  return [text(note("Resource", blob, about)), ...(shown ? [shown] : [])];
}

type ResourceBlock = Extract<z.output<typeof blockSchema>, { type: "resource" }>;

function asAutoGenDumps({ type, resource, annotations = null }: ResourceBlock): JsonObject {
  const { uri, mimeType = null, text: content } = resource;
  const body: JsonObject = content == null ? { blob: "" } : { text: content };
  return { type, resource: { uri, mimeType, meta: null, ...body }, annotations, meta: null };
}

function note(kind: string, base64: string, about: string): string {
  return `[${kind}: ${about}, ${bytesOfBase64(base64)} bytes]`;
}

function text(content: string): ResultContent {
  return { type: "TextResultContent", content };
}
