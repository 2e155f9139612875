import { ProblemError } from "../problem.ts";

/** How much of a body that is too large is read before the connection is closed. */
const MAX_DISCARDED_BYTES = 20_000_000;

/** Reads a JSON body. @throws ProblemError 400, 413 or 415 */
export async function readJson(request: Request, limit: number): Promise<unknown> {
  const type = request.headers.get("content-type");
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type?.trim() ?? ""))
    throw new ProblemError(
      415,
      "unsupported_media_type",
      "Send the body as application/json in UTF-8.",
    );
  const bytes = await readBytes(request, limit);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new ProblemError(400, "malformed_json", "The body is not valid JSON in UTF-8.");
  }
}

/** Reads a body whole. @throws ProblemError 413 or 415 */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readChunks(request, limit)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * The parts of a body as they arrive. Counts their bytes instead of trusting Content-Length.
 *
 * @throws ProblemError 413 or 415
 */
export async function* readChunks(
  request: Request,
  limit: number,
): AsyncGenerator<Uint8Array, void, void> {
  const coding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding !== "" && coding !== "identity")
    throw new ProblemError(
      415,
      "unsupported_media_type",
      "Send the body without Content-Encoding.",
    );
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length <= limit) yield chunk;
    // A response before the end of the body would close the connection.
    else if (length > limit + MAX_DISCARDED_BYTES) break;
  }
  if (length > limit)
    throw new ProblemError(413, "body_too_large", `The body is larger than ${limit} bytes.`);
}
