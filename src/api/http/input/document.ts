import type * as z from "zod";
import { beginningOf } from "../../../core/cut.ts";
import { putDocumentSchema } from "../../../contract/files/collection.ts";
import { MAX_DOCUMENT_BYTES } from "../../../contract/constants.ts";
import type { PutDocument } from "../../../contract/gateways/memory-gateway.ts";
import { issuesOf, namesKnownFields } from "../../../core/issues.ts";
import { RefusedDocument, type SentDocument } from "../../documents/sent-document.ts";
import { ChunkLines } from "../../documents/chunk-lines.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";
import { readBytes, readJson, requireNoCoding } from "./body.ts";
import { checkMetadata } from "./body.ts";

/** JSON is held and parsed as a whole, unlike the bytes of a document. */
const MAX_JSON_BYTES = 8_000_000;

/** The title and metadata of a document, in the query of its raw bytes. */
interface Named {
  title?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

/** A document in its parts. */
export interface ReadDocument extends Omit<PutDocument, "id"> {
  /** Lines of JSON, as the collection's object reads them. */
  chunks: ReadableStream<Uint8Array>;
}

/** About the time that it takes to read a document. */
const RETRY_SECONDS = 5;

/**
 * Reads a document and splits it: the raw bytes of a media type, or JSON with its text.
 *
 * @throws ProblemError 413, 415, 422, or 503 while others have the memory that it needs
 */
export async function readDocument(
  request: Request,
  named: Named,
  services: Pick<Services, "limits" | "documents">,
): Promise<ReadDocument> {
  const { withRoom } = await import("../../documents/turns.ts");
  const length = Number(request.headers.get("content-length") ?? MAX_DOCUMENT_BYTES);
  const bytes = Math.min(length, MAX_DOCUMENT_BYTES);
  const document = await withRoom(bytes, () => readInRoom(request, named, services));
  if (document !== undefined) return document;
  throw new ProblemError({
    status: 503,
    code: "temporarily_unavailable",
    detail: "Other large documents are being read. Nothing was stored. Try again.",
    retry_after: RETRY_SECONDS,
  });
}

async function readInRoom(
  request: Request,
  named: Named,
  { limits, documents }: Pick<Services, "limits" | "documents">,
): Promise<ReadDocument> {
  const { isDocumentType, splitDocument } = await import("../../documents/split-document.ts");
  const type = contentType(request);
  const sent = type.mimeType === "application/json" ? await readText(request, limits) : undefined;
  const { mimeType, charset } = sent ?? type;
  if (!isDocumentType(mimeType)) throw unsupported(mimeType, sent !== undefined);
  const metadata = sent?.metadata ?? named.metadata ?? {};
  checkMetadata(metadata, limits);
  const bytes = sent?.bytes ?? (await readRaw(request));
  const lines = new ChunkLines();
  if (sent?.chunks !== undefined) {
    for (const [chunk, part] of sent.chunks.entries()) lines.add({ chunk, ...part });
    return { title: sent.title, mime_type: mimeType, metadata, chunks: lines.stream() };
  }
  try {
    const own = await splitDocument({ bytes, mimeType, charset }, documents, (chunk) =>
      lines.add(chunk),
    );
    const title = (sent === undefined ? named.title : sent.title) ?? own;
    return { title, mime_type: mimeType, metadata, chunks: lines.stream() };
  } catch (error) {
    if (!(error instanceof RefusedDocument)) throw error;
    const { code, message } = error;
    throw invalid(code, `The document ${message}.`, [
      { path: sent === undefined ? "body" : "content", message },
    ]);
  }
}

/** A document in JSON. With `chunks` it is split already. */
interface SentText extends SentDocument, Pick<PutDocument, "title" | "metadata"> {
  chunks: z.output<typeof putDocumentSchema>["chunks"];
}

async function readText(request: Request, limits: Services["limits"]): Promise<SentText> {
  const { value } = await readJson(
    request,
    { ...limits, max_body_bytes: MAX_JSON_BYTES },
    ` Send a longer text as it is, with its Content-Type: up to ${MAX_DOCUMENT_BYTES} bytes.`,
  );
  const result = putDocumentSchema.safeParse(value, { error: namesKnownFields });
  if (!result.success)
    throw invalid("invalid_request", "The body is invalid.", issuesOf(result.error));
  const { title, content = "", chunks, metadata } = result.data;
  const bytes = new Uint8Array(new TextEncoder().encode(content));
  // The text is decoded already, whatever the type says.
  const [mimeType = ""] = result.data.mime_type.toLowerCase().split(";");
  return { bytes, mimeType: mimeType.trim(), charset: "utf-8", title, metadata, chunks };
}

const DIVIDE = " Divide the document.";

function readRaw(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  requireNoCoding(request.headers.get("content-encoding"));
  return readBytes(request, MAX_DOCUMENT_BYTES, DIVIDE);
}

function contentType({ headers }: Request): Pick<SentDocument, "mimeType" | "charset"> {
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").split(";");
  const [charset] = parameters.flatMap((one) => /^charset=(.*)$/is.exec(one.trim())?.[1] ?? []);
  return { mimeType: type.trim().toLowerCase(), charset: charset?.replaceAll('"', "") };
}

function unsupported(mimeType: string, inJson: boolean): ProblemError {
  const allowed =
    "text/plain, text/markdown, text/html and other text, application/pdf or an office document";
  const type = mimeType === "" ? "missing" : JSON.stringify(beginningOf(mimeType, 100));
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
