// Reads what documents say, in the Worker: `troupe/documents`. The library for PDF, unpdf, is a peer dependency, which is
// loaded when the first PDF is read.
import { DocumentError, type DocumentReader } from "../contract/files/documents.ts";

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
    const { extractText, getDocumentProxy } = await import("unpdf");
    try {
      // The library takes the bytes over.
      const document = await getDocumentProxy(bytes.slice());
      const { text } = await extractText(document, { mergePages: false });
      return text;
    } catch (error) {
      throw new DocumentError("unreadable", "is a PDF that cannot be read", error);
    }
  },
};
