import { RefusedDocument, type SentDocument } from "./sent-document.ts";

/** Bytes, or characters, of a document that are read before other requests come. */
export const WINDOW_BYTES = 16_384;

/** A text, some thousand characters at a time. */
export function* windowsOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += WINDOW_BYTES) {
    yield text.slice(from, from + WINDOW_BYTES);
  }
}

/**
 * The text of a document, some thousand characters at a time.
 *
 * @throws RefusedDocument
 */
export function* textWindows(
  { bytes, charset }: Pick<SentDocument, "bytes" | "charset">,
  { isHtml }: { isHtml: boolean },
): Generator<string> {
  const label = charset ?? markedCharset(bytes) ?? (isHtml ? metaCharset(bytes) : undefined);
  try {
    const decoder = new TextDecoder(label ?? "utf-8", { fatal: true, ignoreBOM: false });
    for (let from = 0; from < bytes.length; from += WINDOW_BYTES) {
      const window = decoder.decode(bytes.subarray(from, from + WINDOW_BYTES), { stream: true });
      if (window.includes("\0")) {
        throw new RefusedDocument(
          "unreadable_document",
          "is not a text: it contains NUL characters",
        );
      }
      yield window;
    }
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
    const unknown = error instanceof RangeError;
    throw new RefusedDocument(
      "unreadable_document",
      unknown
        ? `has the charset ${JSON.stringify(label)}, which is not known here. Send it in UTF-8`
        : `is not text in ${label ?? "UTF-8"}. Name its charset in Content-Type, for example text/plain; charset=iso-8859-1`,
    );
  }
}

/** The encoding that the first bytes mark. */
function markedCharset(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** The encoding that an HTML page declares in its first kilobyte. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  return /<meta[^>]{0,200}\bcharset\s*=[\s"']*([\w.:-]+)/i.exec(start)?.[1];
}
