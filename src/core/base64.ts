/** Bytes that become arguments of one call. */
const CHUNK = 8192;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return btoa(binary);
}

/** True for base64 with its padding and without white space, as AutoGen writes bytes. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}

/** The base64 of a `data:` URL, without white space, and its media type; undefined for another URL, and for one without base64. */
export function dataUrlBytes(url: string): { data: string; mediaType: string } | undefined {
  const comma = url.indexOf(",");
  const [scheme, ...parameters] = url.slice(0, Math.max(comma, 0)).split(";");
  if (!scheme?.startsWith("data:") || parameters.at(-1) !== "base64") return undefined;
  return {
    mediaType: scheme.slice("data:".length),
    data: url.slice(comma + 1).replaceAll(/\s/g, ""),
  };
}

/** @throws DOMException when the text is not base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** Base64 for URLs and file names (RFC 4648, section 5), without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @throws DOMException when the text is not base64url */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/** The number of bytes in base64, which has four characters for three bytes. */
export function bytesOfBase64(data: string): number {
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return Math.floor(((data.length - padding) * 3) / 4);
}
