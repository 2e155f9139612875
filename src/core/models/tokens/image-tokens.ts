import { imageSize } from "./image-size.ts";
import type { ImageContent } from "../llm-messages.ts";

const BASE = 85;
const PER_TILE = 170;
const TILE = 512;
const LONGEST = 2048;
const SHORTEST = 768;

/** For images whose size is not in their first bytes: the tokens of a square image at the model's full resolution. */
const UNKNOWN = { width: SHORTEST, height: SHORTEST };

/** The tokens of an image. OpenAI scales it down and counts tiles. */
export function imageTokens(image: ImageContent): number {
  let { width, height } = imageSize(image.data) ?? UNKNOWN;
  const tooLong = Math.min(1, LONGEST / Math.max(width, height));
  width = Math.floor(width * tooLong);
  height = Math.floor(height * tooLong);
  const tooBroad = Math.min(1, SHORTEST / Math.min(width, height));
  width = Math.floor(width * tooBroad);
  height = Math.floor(height * tooBroad);
  return BASE + PER_TILE * Math.ceil(width / TILE) * Math.ceil(height / TILE);
}
