import type { ContentBlock } from "@agentclientprotocol/sdk";
import { beginningOf, type Task, type TaskFile } from "../../client/index.ts";
import { isFile } from "../../core/models/attached-files.ts";
import { imageMediaType } from "../../core/models/images.ts";
import type { UserPart } from "../../core/models/llm-messages.ts";

/**
 * The task of a prompt: a text where it has nothing else, and a message with parts otherwise. Texts of the editor's files come as
 * files, and links to them as Markdown, because the team cannot open them.
 */
export function taskOf(prompt: readonly ContentBlock[]): NonNullable<Task> {
  const parts = prompt.map(partOf);
  const texts = parts.filter((part) => typeof part === "string");
  if (texts.length === parts.length) return texts.join("\n\n");
  return { type: "MultiModalMessage", source: "user", content: parts };
}

function partOf(block: ContentBlock): string | TaskFile {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.title ?? block.name}](${block.uri})`;
    case "image":
      return { data: block.data, name: "image", media_type: block.mimeType };
    case "resource": {
      const { resource } = block;
      const name = nameOf(resource.uri);
      if ("text" in resource) {
        const data = Buffer.from(resource.text, "utf8").toString("base64");
        return { data, name, media_type: "text/plain" };
      }
      const media_type = resource.mimeType ?? undefined;
      return { data: resource.blob, name, ...(media_type !== undefined && { media_type }) };
    }
    default:
      return `(A part of the kind ${block.type} was left out: the team does not read it.)`;
  }
}

/** The last segment of a URI; file names are at most 255 characters. */
function nameOf(uri: string): string {
  const path = URL.canParse(uri) ? new URL(uri).pathname : uri;
  const name = path.split("/").findLast((segment) => segment !== "") ?? "file";
  return beginningOf(decoded(name), 255);
}

/** A segment of a path without its escapes; as it is where they are not those of UTF-8. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A part of a message as content of ACP. */
export function contentBlock(part: UserPart): ContentBlock {
  if (typeof part === "string") return { type: "text", text: part };
  const { data } = part;
  if (!isFile(part)) return { type: "image", data, mimeType: imageMediaType(data) ?? "image/png" };
  const { name, media_type: mimeType } = part;
  return {
    type: "resource",
    resource: { uri: `attachment:${encodeURIComponent(name)}`, mimeType, blob: data },
  };
}
