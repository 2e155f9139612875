import { expect, test } from "vitest";
import { imageDataUri, imageMediaType } from "#core/models/images.ts";

const bytes = (text: string): string => btoa(`${text}${"\0".repeat(20)}`);

test.each([
  [bytes("\x89PNG\r\n\x1a\n"), "image/png"],
  [bytes("\xff\xd8\xff\xe0"), "image/jpeg"],
  [bytes("GIF89a"), "image/gif"],
  [bytes("GIF87a"), "image/gif"],
  [bytes("RIFF\x10\0\0\0WEBPVP8 "), "image/webp"],
  [bytes("RIFF\x10\0\0\0WAVEfmt "), undefined],
  [bytes("BM"), undefined],
  ["", undefined],
  ["not base64!", undefined],
  ["data:image/png;base64,iVBORw0KGgo=", undefined],
])("the type of %s is %s", (data, type) => {
  expect(imageMediaType(data)).toBe(type);
});

test("a data URI names the kind of picture", () => {
  const data = bytes("GIF89a");
  expect(imageDataUri({ data })).toBe(`data:image/gif;base64,${data}`);
});
