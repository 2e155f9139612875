/** The kinds of picture that models take. */
export type ImageMediaType = "image/png" | "image/jpeg" | "image/webp" | "image/gif";

/** Characters of base64 that hold the first 12 bytes, enough to tell the kinds apart. */
const HEAD = 16;

/** What kind of picture base64 data is, by its first bytes; undefined when it is none of those models take. */
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

/** A picture as a `data:` URI, the form chat APIs take. Data of no known kind is called PNG, as AutoGen does. */
export function imageDataUri(image: { data: string }): string {
  return `data:${imageMediaType(image.data) ?? "image/png"};base64,${image.data}`;
}
