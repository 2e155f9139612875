import { toBase64 } from "../../core/base64.ts";
import type { CodeImage } from "../../core/code/code-block.ts";
import { imageMediaType } from "../../core/models/images.ts";
import { within } from "../../core/wait.ts";
import type { SessionFiles } from "./session-files.ts";

/** The most images of one execution that models get. */
const MOST_IMAGES = 4;
/** The most bytes of one image. */
const MOST_BYTES = 1_000_000;
const READ_WITHIN_MS = 30_000;

const IMAGE_NAME = /\.(?:png|jpe?g|webp|gif)$/i;

/** The images among the files that code wrote. One that is too large, beyond the number, or cannot be read has no data. */
export async function readImages(
  files: SessionFiles,
  session: string,
  paths: readonly string[],
): Promise<CodeImage[]> {
  const images: CodeImage[] = [];
  let shown = 0;
  for (const path of paths.filter((name) => IMAGE_NAME.test(name))) {
    const bytes =
      shown < MOST_IMAGES
        ? await within(READ_WITHIN_MS, readFile(files, session, path)).catch(() => undefined)
        : undefined;
    const data = bytes === undefined ? null : toBase64(bytes);
    // The file name alone is not reliable: this file is not an image.
    if (data !== null && imageMediaType(data) === undefined) continue;
    if (data !== null) shown++;
    images.push({ path, data });
  }
  return images;
}

/** Undefined for a file that is too large or cannot be read. */
async function readFile(
  files: SessionFiles,
  session: string,
  path: string,
): Promise<Uint8Array | undefined> {
  const file = await files.read(session, path, "GET");
  if (!file.ok || file.value.body === null) return undefined;
  const reader = file.value.body.getReader();
  try {
    const bytes = new Uint8Array(MOST_BYTES);
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return bytes.subarray(0, size);
      if (size + value.length > MOST_BYTES) return undefined;
      bytes.set(value, size);
      size += value.length;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
