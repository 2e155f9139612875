import { refusedAt } from "./parse.ts";
import type { Content } from "./entry.ts";

const DATA_URL = /^data:image\/(?:png|jpe?g|webp|gif);base64,([A-Za-z0-9+/=\s]+)$/;

/** A part of a message's content, of either protocol. */
export interface ContentPart {
  type: string;
  text?: unknown;
  refusal?: unknown;
  image_url?: unknown;
}

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

function partOf(part: ContentPart, path: string): string | { data: string } {
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
      return imageOf(part.image_url, `${path}.image_url`);
    default:
      throw refusedAt(`${path}.type`, "is not supported: send text or images");
  }
}

/** An image as chat completions (`{ url }`) or responses (the URL) have it. */
function imageOf(image: unknown, path: string): { data: string } {
  const url = typeof image === "object" && image !== null && "url" in image ? image.url : image;
  const data = typeof url === "string" ? DATA_URL.exec(url)?.[1] : undefined;
  if (data !== undefined) return { data: data.replaceAll(/\s/g, "") };
  throw refusedAt(
    path,
    "must be a data: URL with a PNG, JPEG, WebP or GIF picture in base64: images are not fetched",
  );
}
