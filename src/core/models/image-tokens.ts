import type { Image } from "./llm-messages.ts";

const BASE = 85;
const PER_TILE = 170;
const TILE = 512;
const LONGEST = 2048;
const SHORTEST = 768;

/** Of a square picture that fills the model's view, for those whose size is not in their first bytes. */
const UNKNOWN = { width: SHORTEST, height: SHORTEST };

/** Tokens a picture takes: OpenAI scales it down and counts tiles. */
export function imageTokens(image: Image): number {
  let { width, height } = imageSize(image.data) ?? UNKNOWN;
  const tooLong = Math.min(1, LONGEST / Math.max(width, height));
  width = Math.floor(width * tooLong);
  height = Math.floor(height * tooLong);
  const tooBroad = Math.min(1, SHORTEST / Math.min(width, height));
  width = Math.floor(width * tooBroad);
  height = Math.floor(height * tooBroad);
  return BASE + PER_TILE * Math.ceil(width / TILE) * Math.ceil(height / TILE);
}

/** Pixels of a PNG or GIF, which say it at the beginning. */
function imageSize(data: string): { width: number; height: number } | undefined {
  let head: string;
  try {
    head = atob(data.slice(0, 32));
  } catch {
    return undefined;
  }
  const byte = (index: number): number => head.charCodeAt(index);
  const big = (index: number): number =>
    byte(index) * 2 ** 24 + byte(index + 1) * 2 ** 16 + byte(index + 2) * 2 ** 8 + byte(index + 3);
  const little = (index: number): number => byte(index) + byte(index + 1) * 2 ** 8;
  if (head.length < 24) return undefined;
  if (head.startsWith("\x89PNG")) return { width: big(16), height: big(20) };
  if (head.startsWith("GIF8")) return { width: little(6), height: little(8) };
  return undefined;
}
