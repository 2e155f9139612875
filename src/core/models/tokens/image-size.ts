import { imageMediaType } from "../images.ts";

/** Sizes in pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/** Base64 characters that are decoded: enough to skip a JPEG's embedded preview. A multiple of four. */
const PREFIX = 400_000;

/** The size of a base64 image, from its header; undefined when the header does not have it. */
export function imageSize(data: string): ImageSize | undefined {
  const kind = imageMediaType(data);
  if (kind === undefined) return undefined;
  const view = headerOf(data);
  try {
    if (kind === "image/png") return { width: view.getUint32(16), height: view.getUint32(20) };
    if (kind === "image/gif") {
      return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    }
    return kind === "image/jpeg" ? jpegSize(view) : webpSize(view);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function headerOf(data: string): DataView {
  const text = atob(data.slice(0, PREFIX));
  return new DataView(Uint8Array.from(text, (char) => char.charCodeAt(0)).buffer);
}

/** Walks the segments up to the frame header. @throws RangeError when there is none */
function jpegSize(view: DataView): ImageSize {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    while (view.getUint8(at + 1) === 0xff) at++;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
  }
}

function webpSize(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    case 0x56503820: // "VP8 "
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case 0x5650384c: {
      // "VP8L": two numbers of 14 bits
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503858: // "VP8X": two numbers of 24 bits
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
