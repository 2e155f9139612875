import { imageSize } from "./image-size.ts";
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
