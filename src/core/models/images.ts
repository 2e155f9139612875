/** The image formats that models accept. */
export type ImageMediaType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

/** Characters of base64 that hold the first 12 bytes, enough to distinguish the formats. */
const HEAD = 16;

/** The media type of a base64 image, by its first bytes; undefined for other formats. */
export function imageMediaType(data: string): ImageMediaType | undefined {
  let head: string;
  try {
    head = atob(data.slice(0, HEAD));
  } catch {
    return undefined;
  }
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}

/** An image as a `data:` URI, the form that chat APIs accept. Unknown formats are declared PNG, as in AutoGen. */
export function imageDataUri(image: { data: string }): string {
  return `data:${imageMediaType(image.data) ?? "image/png"};base64,${image.data}`;
}
