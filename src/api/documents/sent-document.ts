/** A document as it was sent. */
export interface SentDocument {
  bytes: Uint8Array<ArrayBuffer>;
  /** Without parameters, in lower case. */
  mimeType: string;
  /** The parameter of the media type; undefined to find out. */
  charset: string | undefined;
}

/** Why a document is refused. */
export class RefusedDocument extends Error {
  readonly code: "no_extractor" | "unreadable_document" | "empty_document" | "document_too_large";

  constructor(code: RefusedDocument["code"], message: string) {
    super(message);
    this.code = code;
  }
}
