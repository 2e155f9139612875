import { letOthersRun } from "../../core/wait.ts";
import { DocumentError, type DocumentReader } from "../../contract/files/documents.ts";
import type { DocumentChunk } from "../../contract/gateways/memory-gateway.ts";
import { ChunkWriter } from "./chunks.ts";
import { Outline } from "./outline.ts";
import { RefusedDocument, type SentDocument } from "./sent-document.ts";
import { PlainText, type TextReader } from "./text-reader.ts";
import { textWindows, WINDOW_BYTES, windowsOf } from "./text-windows.ts";
import { inTurn } from "./turns.ts";

const MARKDOWN: ReadonlySet<string> = new Set(["text/markdown", "text/x-markdown"]);
const HTML: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const PDF = "application/pdf";
/** The length of the name by which a PDF says that it is encrypted, and one more. */
const ENCRYPTED_BYTES = 9;

/** Text that is split as it is. */
const PLAIN =
  /^(text\/.+|application\/(json|x-ndjson|xml|yaml|x-yaml|toml)|application\/.+\+(json|xml))$/;
/** Documents that need an extractor. */
const EXTRACTED =
  /^application\/(pdf|msword|rtf|epub\+zip|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+|vnd\.ms-(word|excel|powerpoint).*)$/;

/** True if documents of a media type can be put into a collection, at least with an extractor. */
export function isDocumentType(mimeType: string): boolean {
  return PLAIN.test(mimeType) || HTML.has(mimeType) || EXTRACTED.test(mimeType);
}

/**
 * Splits a document into its chunks. It is read in windows between which other requests come, one document at a time, so that what it holds does not
 * grow with the document.
 *
 * @param reader reads PDF and office documents; undefined where nothing does
 * @param add gets the chunks in their order
 * @returns the title that the document itself has
 * @throws RefusedDocument
 */
export function splitDocument(
  document: SentDocument,
  reader: (() => Promise<DocumentReader>) | undefined,
  add: (chunk: DocumentChunk) => void,
): Promise<string | null> {
  return inTurn(async () => {
    const writer = new ChunkWriter(add);
    const title = EXTRACTED.test(document.mimeType)
      ? await writePages(await pagesOf(document, reader), writer)
      : await writeText(document, writer);
    writer.finish();
    if (writer.count === 0) throw new RefusedDocument("empty_document", "has no text");
    return title;
  });
}

async function writePages(pages: readonly string[], writer: ChunkWriter): Promise<null> {
  for (const [index, page] of pages.entries()) {
    writer.section({ heading: null, page: index + 1 });
    for (const window of windowsOf(page)) {
      writer.text(window);
      await letOthersRun();
    }
  }
  return null;
}

async function writeText(document: SentDocument, writer: ChunkWriter): Promise<string | null> {
  const reader = await textReader(document.mimeType, writer);
  for (const window of textWindows(document, { isHtml: HTML.has(document.mimeType) })) {
    reader.write(window);
    await letOthersRun();
  }
  reader.end();
  return reader.title;
}

async function textReader(mimeType: string, writer: ChunkWriter): Promise<TextReader> {
  if (HTML.has(mimeType)) return new (await import("./html.ts")).HtmlText(new Outline(writer));
  if (!MARKDOWN.has(mimeType)) return new PlainText(writer);
  return new (await import("./markdown.ts")).MarkdownText(new Outline(writer));
}

async function pagesOf(
  { bytes, mimeType }: SentDocument,
  reader: (() => Promise<DocumentReader>) | undefined,
): Promise<string[]> {
  if (mimeType === PDF && !startsAsPdf(bytes)) {
    throw new RefusedDocument("unreadable_document", "is not a PDF: it does not begin with %PDF-");
  }
  try {
    if (reader === undefined)
      throw new DocumentError("no_extractor", "Nothing that reads documents is configured.");
    const pages = await (await reader()).pages(bytes, mimeType);
    if (pages.some((page) => page.trim() !== "")) return pages;
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (error.code === "unreadable" && mimeType === PDF && isEncrypted(bytes)) {
      throw new RefusedDocument(
        "unreadable_document",
        "is protected by a password. Save it without one, for example with qpdf --decrypt --password=PASSWORD in.pdf out.pdf, and send that",
      );
    }
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

/** The trailer of a PDF, which is never encrypted, names how the rest is. */
function isEncrypted(bytes: Uint8Array): boolean {
  const latin = new TextDecoder("latin1");
  for (let from = 0; from < bytes.length; from += WINDOW_BYTES) {
    const window = bytes.subarray(from, from + WINDOW_BYTES + ENCRYPTED_BYTES);
    if (/\/Encrypt\b/.test(latin.decode(window))) return true;
  }
  return false;
}
