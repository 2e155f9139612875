/**
 * A UUID-shaped id that is a function of `text` (128 bits, two rounds of cyrb53-style mixing). Not
 * cryptographic: it names things inside one team, and no code relies on it being hard to guess.
 */
export function hashId(text: string): string {
  const hex = hash64(text, 0x9e3779b9) + hash64(text, 0x85ebca6b);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** 64 bits as 16 hexadecimal digits. */
export function hash64(text: string, seed = 0): string {
  return toHex(hashOf(text, seed));
}

/** A 64-bit hash as two 32-bit numbers. */
export interface Hash {
  readonly high: number;
  readonly low: number;
}

export function hashOf(text: string, seed = 0): Hash {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  return finish(a, b);
}

/** A hash of an ordered list of hashes, as 16 hexadecimal digits. Long texts with a common part can share its hash. */
export function hashOfHashes(hashes: Iterable<Hash>): string {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (const { high, low } of hashes) {
    a = Math.imul(Math.imul(a ^ low, 2654435761) ^ high, 2246822507);
    b = Math.imul(Math.imul(b ^ high, 1597334677) ^ low, 3266489909);
  }
  return toHex(finish(a, b));
}

function finish(a: number, b: number): Hash {
  const low = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  const high = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return { high, low };
}

function toHex({ high, low }: Hash): string {
  return hex32(high) + hex32(low);
}

function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}

const encoder = new TextEncoder();

/** Formats each byte as two hexadecimal digits. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** SHA-256 of bytes, or of a text's UTF-8, as lower-case hex. */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  let hex = "";
  for (const byte of digest) hex += HEX[byte];
  return hex;
}
