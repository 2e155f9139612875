import { describe, expect, test } from "vitest";
import { imageSize } from "#core/models/tokens/image-size.ts";

const base64 = (...bytes: (number | string)[]): string =>
  btoa(bytes.map((byte) => (typeof byte === "string" ? byte : String.fromCharCode(byte))).join(""));

describe("imageSize", () => {
  test.each([
    ["PNG", base64("\x89PNG\r\n\x1a\n", 0, 0, 0, 13, "IHDR", 0, 0, 1, 44, 0, 0, 0, 200, 8, 2)],
    ["GIF", base64("GIF89a", 44, 1, 200, 0, 0, 0, 0)],
    [
      "JPEG with another segment first",
      base64(0xff, 0xd8, 0xff, 0xe0, 0, 6, 1, 2, 3, 4, 0xff, 0xc0, 0, 17, 8, 0, 200, 1, 44, 3),
    ],
    [
      "lossy WebP",
      base64("RIFF", 0, 0, 0, 0, "WEBPVP8 ", 0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 44, 1, 200, 0),
    ],
    [
      "lossless WebP",
      base64("RIFF", 0, 0, 0, 0, "WEBPVP8L", 0, 0, 0, 0, 0x2f, 0x2b, 0xc1, 0x31, 0, 0, 0),
    ],
    [
      "extended WebP",
      base64("RIFF", 0, 0, 0, 0, "WEBPVP8X", 10, 0, 0, 0, 0, 0, 0, 0, 0x2b, 1, 0, 0xc7, 0, 0),
    ],
  ])("reads the header of a %s", (_, data) => {
    expect(imageSize(data)).toEqual({ width: 300, height: 200 });
  });

  test.each([
    ["a JPEG cut off before its frame", base64(0xff, 0xd8, 0xff, 0xe0, 0, 16, 1, 2)],
    ["a text that is not a picture", btoa("hello, world, hello")],
  ])("returns nothing for %s", (_, data) => {
    expect(imageSize(data)).toBeUndefined();
  });
});
