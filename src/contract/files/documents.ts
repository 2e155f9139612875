import { TroupeError } from "../../core/errors.ts";

/** Reads text from documents: `troupe/documents`, the sandbox, or a program's own implementation. */
export interface DocumentReader {
  /**
   * The text of each page of a document.
   *
   * @param mediaType `application/pdf`
   * @throws DocumentError
   */
  pages(bytes: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string[]>;
}

/** `no_extractor`: no extractor for such documents is configured. `unreadable`: this document cannot be read. */
export class DocumentError extends TroupeError {
  declare readonly code: "no_extractor" | "unreadable";

  constructor(code: DocumentError["code"], message: string, cause?: unknown) {
    super(code, message, { cause });
  }
}
