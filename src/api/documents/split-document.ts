import { DocumentError, type DocumentReader } from "../../contract/files/documents.ts";
import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";
import { MAX_DOCUMENT_CHUNKS } from "../../contract/constants.ts";
import type { Block } from "./chunks.ts";
import { chunksOf } from "./chunks.ts";

/** A document as it was sent. */
export interface SentDocument {
  bytes: Uint8Array<ArrayBuffer>;
  /** Without parameters, in lower case. */
  mimeType: string;
  /** The parameter of the media type; undefined to find out. */
  charset: string | undefined;
}

export interface SplitDocument {
  /** The title that the document itself has. */
  title: string | null;
  chunks: DocumentChunk[];
}

/** Why a document is refused. */
export class RefusedDocument extends Error {
  readonly code: "no_extractor" | "unreadable_document" | "empty_document" | "document_too_large";

  constructor(code: RefusedDocument["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const MARKDOWN: ReadonlySet<string> = new Set(["text/markdown", "text/x-markdown"]);
const HTML: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const PDF = "application/pdf";

/** Text that is split as it is. */
const PLAIN =
  /^(text\/.+|application\/(json|x-ndjson|xml|yaml|x-yaml|toml)|application\/.+\+(json|xml))$/;
/** Documents that need an extractor. */
const EXTRACTED =
  /^application\/(pdf|msword|rtf|epub\+zip|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+|vnd\.ms-(word|excel|powerpoint).*)$/;

/** Whether documents of a media type can be put into a collection, with an extractor at least. */
export function isDocumentType(mimeType: string): boolean {
  return PLAIN.test(mimeType) || HTML.has(mimeType) || EXTRACTED.test(mimeType);
}

/**
 * Splits a document into its chunks.
 *
 * @param reader reads PDF and office documents; undefined where nothing does
 * @throws RefusedDocument
 */
export async function splitDocument(
  document: SentDocument,
  reader: (() => Promise<DocumentReader>) | undefined,
): Promise<SplitDocument> {
  const { title, blocks } = await blocksOf(document, reader);
  const chunks = chunksOf(blocks);
  if (chunks.length === 0) throw new RefusedDocument("empty_document", "has no text");
  if (chunks.length <= MAX_DOCUMENT_CHUNKS) return { title, chunks };
  throw new RefusedDocument(
    "document_too_large",
    `has ${chunks.length} parts (sections, and about 400 tokens each); at most ${MAX_DOCUMENT_CHUNKS} are allowed. Divide it into several documents`,
  );
}

async function blocksOf(
  document: SentDocument,
  reader: (() => Promise<DocumentReader>) | undefined,
): Promise<{ title: string | null; blocks: Block[] }> {
  const { mimeType } = document;
  if (EXTRACTED.test(mimeType)) {
    const pages = await pagesOf(document, reader);
    const blocks = pages.map((text, index) => ({ headings: [], page: index + 1, text }));
    return { title: null, blocks };
  }
  const text = decoded(document);
  if (HTML.has(mimeType)) return (await import("./html.ts")).htmlBlocks(text);
  if (MARKDOWN.has(mimeType)) return (await import("./markdown.ts")).markdownBlocks(text);
  const paragraphs = text.split(/\n[^\S\n]*\n/);
  return {
    title: null,
    blocks: paragraphs.map((one) => ({ headings: [], page: null, text: one })),
  };
}

async function pagesOf(
  { bytes, mimeType }: SentDocument,
  reader: (() => Promise<DocumentReader>) | undefined,
): Promise<string[]> {
  if (mimeType === PDF && !startsAsPdf(bytes)) {
    throw new RefusedDocument("unreadable_document", "is no PDF: it does not begin with %PDF-");
  }
  try {
    if (reader === undefined)
      throw new DocumentError("no_extractor", "Nothing that reads documents is configured.");
    const pages = await (await reader()).pages(bytes, mimeType);
    if (pages.some((page) => page.trim() !== "")) return pages;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (error.code === "unreadable")
      throw new RefusedDocument("unreadable_document", error.message);
    throw new RefusedDocument(
      "no_extractor",
      `is ${mimeType}, which nothing here reads. Use a Worker with troupe/documents or a sandbox with pypdf or pdftotext for PDF, or send the text of the document as text/plain, text/markdown or text/html`,
    );
  }
  throw new RefusedDocument(
    "unreadable_document",
    "has pages without text: they may be pictures, which need text recognition first",
  );
}

/** Readers allow some bytes in front of it. */
function startsAsPdf(bytes: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).includes("%PDF-");
}

/** @throws RefusedDocument */
function decoded({ bytes, mimeType, charset }: SentDocument): string {
  const label =
    charset ?? markedCharset(bytes) ?? (HTML.has(mimeType) ? metaCharset(bytes) : undefined);
  let text: string;
  try {
    text = new TextDecoder(label ?? "utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    const unknown = error instanceof RangeError;
    throw new RefusedDocument(
      "unreadable_document",
      unknown
        ? `has the charset ${JSON.stringify(label)}, which is not known here. Send it in UTF-8`
        : `is not text in ${label ?? "UTF-8"}. Name its charset in Content-Type, for example text/plain; charset=iso-8859-1`,
    );
  }
  if (!text.includes("\0")) return text;
  throw new RefusedDocument("unreadable_document", "is no text: it contains NUL characters");
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
  return /<meta[^>]{0,200}\bcharset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
}
