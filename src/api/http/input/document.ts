import { putDocumentSchema } from "../../../contract/files/collection.ts";
import { MAX_DOCUMENT_BYTES } from "../../../contract/constants.ts";
import type { DocumentChunk, PutDocument } from "../../../contract/gateways/memory-gateway.ts";
import { issuesOf, namesKnownFields } from "../../../core/issues.ts";
import type { SentDocument } from "../../documents/split-document.ts";
import { invalid, ProblemError } from "../problem.ts";
import type { Services } from "../services.ts";
import { readBytes, readJson, requireNoCoding, tooLarge } from "./body.ts";
import { checkMetadata } from "./body.ts";

/** JSON has up to six bytes for one; a body of this size has a text of the largest size in most languages. */
const MAX_JSON_BYTES = 3 * MAX_DOCUMENT_BYTES;

/** What a document is called, in the query of its raw bytes. */
interface Named {
  title?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** A document in its parts. */
export interface ReadDocument extends Omit<PutDocument, "id"> {
  chunks: DocumentChunk[];
}

/**
 * Reads a document and splits it: the raw bytes of a media type, or JSON with its text.
 *
 * @throws ProblemError 413, 415 or 422
 */
export async function readDocument(
  request: Request,
  named: Named,
  { limits, documents }: Pick<Services, "limits" | "documents">,
): Promise<ReadDocument> {
  const { isDocumentType, RefusedDocument, splitDocument } =
    await import("../../documents/split-document.ts");
  const type = contentType(request);
  const sent = type.mimeType === "application/json" ? await readText(request, limits) : undefined;
  const { mimeType, charset } = sent ?? type;
  if (!isDocumentType(mimeType)) throw unsupported(mimeType, sent !== undefined);
  const metadata = sent?.metadata ?? named.metadata ?? {};
  checkMetadata(metadata, limits);
  const bytes = sent?.bytes ?? (await readRaw(request));
  try {
    const split = await splitDocument({ bytes, mimeType, charset }, documents);
    const title = (sent === undefined ? named.title : sent.title) ?? split.title;
    return { title, mime_type: mimeType, metadata, chunks: split.chunks };
  } catch (error) {
    if (!(error instanceof RefusedDocument)) throw error;
    const { code, message } = error;
    throw invalid(code, `The document ${message}.`, [
      { path: sent === undefined ? "body" : "content", message },
    ]);
  }
}

async function readText(
  request: Request,
  limits: Services["limits"],
): Promise<SentDocument & { title: string | null; metadata: PutDocument["metadata"] }> {
  const { value } = await readJson(request, { ...limits, max_body_bytes: MAX_JSON_BYTES });
  const result = putDocumentSchema.safeParse(value, { error: namesKnownFields });
  if (!result.success)
    throw invalid("invalid_request", "The body is invalid.", issuesOf(result.error));
  const { title, content, metadata } = result.data;
  const bytes = new Uint8Array(new TextEncoder().encode(content));
  if (bytes.length > MAX_DOCUMENT_BYTES) throw tooLarge(MAX_DOCUMENT_BYTES, DIVIDE);
  // The text is decoded already, whatever the type says.
  const [mimeType = ""] = result.data.mime_type.toLowerCase().split(";");
  return { bytes, mimeType: mimeType.trim(), charset: "utf-8", title, metadata };
}

const DIVIDE = " Divide the document.";

function readRaw(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  requireNoCoding(request.headers.get("content-encoding"));
  return readBytes(request, MAX_DOCUMENT_BYTES, DIVIDE);
}

function contentType({ headers }: Request): Pick<SentDocument, "mimeType" | "charset"> {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").split(";");
  const charset = parameters.map((one) => /^\s*charset="?([^"]*)"?\s*$/i.exec(one)?.[1]);
  return { mimeType: type.trim().toLowerCase(), charset: charset.find((one) => one !== undefined) };
}

function unsupported(mimeType: string, inJson: boolean): ProblemError {
  const allowed =
    "text/plain, text/markdown, text/html and other text, application/pdf or an office document";
  const type = mimeType === "" ? "missing" : JSON.stringify(mimeType.slice(0, 100));
  if (inJson) {
    throw invalid("invalid_request", "The body is invalid.", [
      { path: "mime_type", message: `is ${type}; it must be ${allowed}` },
    ]);
  }
  return new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: `Content-Type is ${type}. Send a document as ${allowed}, or as application/json with its text.`,
  });
}

/** The chunks as lines of JSON, as the collection's object reads them. */
export function chunkStream(chunks: readonly DocumentChunk[]): ReadableStream<Uint8Array> {
  const lines = chunks.map((chunk) => `${JSON.stringify(chunk)}\n`);
  return new Blob(lines).stream() as ReadableStream<Uint8Array>;
}
