import { bytesOfBase64 } from "../../base64.ts";
import { textOfFile, type AttachedFile } from "../attached-files.ts";

/**
 * Providers present a page as its text and as an image.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support
 */
const PER_PAGE = 2500;

/**
 * The page count of a PDF is in a compressed part, so pages are estimated by size. Pages with pictures have more bytes
 * and do not cost more tokens.
 */
const BYTES_PER_PAGE = 50_000;

/** The tokens of a file: from its text if that is known, otherwise an estimate by its size. */
export function fileTokens(file: AttachedFile, count: (text: string) => number): number {
  const text = textOfFile(file);
  if (text !== undefined) return count(text);
  return PER_PAGE * Math.ceil(bytesOfBase64(file.data) / BYTES_PER_PAGE);
}
