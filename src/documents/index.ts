// Reads what documents say, in the Worker: `troupe/documents`. The library for PDF, unpdf, is a peer dependency, which is
// loaded when the first PDF is read.
import type { getDocumentProxy } from "unpdf";
import { DocumentError, type DocumentReader } from "../contract/files/documents.ts";

type PDFDocumentProxy = Awaited<ReturnType<typeof getDocumentProxy>>;
type PDFPageProxy = Awaited<ReturnType<PDFDocumentProxy["getPage"]>>;
type TextContent = Awaited<ReturnType<PDFPageProxy["getTextContent"]>>;

/** A PDF may say much more than its bytes: its streams are compressed, and pages may share them. */
const MOST_CHARACTERS = 20_000_000;
const MOST_PAGES = 5_000;
/** Pages that are read before the document is closed and opened again. */
const PAGES_AT_ONCE = 100;

export { DocumentError, type DocumentReader };

/**
 * Reads PDF.
 *
 * @example
 * import { documents } from "troupe/documents";
 * import { createTroupe } from "troupe/worker";
 * const troupe = createTroupe({ documents });
 */
export const documents: DocumentReader = {
  async pages(bytes, mediaType) {
    if (mediaType !== "application/pdf")
      throw new DocumentError("no_extractor", `nothing reads ${mediaType}`);
    try {
      return await textsOf(bytes);
    } catch (error) {
      if (error instanceof DocumentError) throw error;
      throw new DocumentError("unreadable", "is a PDF that cannot be read", error);
    }
  },
};

/** Page by page, because what the library holds of a page is many times its text, and until its document is closed. */
async function textsOf(bytes: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { getDocumentProxy } = await import("unpdf");
  const texts: string[] = [];
  let left = MOST_CHARACTERS;
  for (let pages = 1; texts.length < pages;) {
    // The library takes the bytes over.
    const document = await getDocumentProxy(bytes.slice());
    try {
      pages = document.numPages;
      if (pages > MOST_PAGES) {
        throw new DocumentError(
          "unreadable",
          `has ${pages} pages; at most ${MOST_PAGES} are read. Divide it into several documents`,
        );
      }
      const last = Math.min(pages, texts.length + PAGES_AT_ONCE);
      while (texts.length < last) {
        const text = await textOf(await document.getPage(texts.length + 1), left);
        left -= text.length;
        texts.push(text);
      }
    } finally {
      await document.loadingTask.destroy();
    }
  }
  return texts;
}

async function textOf(page: PDFPageProxy, most: number): Promise<string> {
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextContent>;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    for (const item of value.items) {
      if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    }
    if (text.length > most) {
      await reader.cancel(new Error("too much text"));
      throw new DocumentError(
        "unreadable",
        `has more than ${MOST_CHARACTERS} characters of text. Divide it into several documents`,
      );
    }
    // Other requests come before the next part.
    await new Promise((resolve) => void setTimeout(resolve, 0));
  }
}
