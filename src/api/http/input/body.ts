import { beginningOf } from "../../../core/cut.ts";
import { type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";
import { type Limits, MAX_REQUEST_BYTES } from "../endpoint/limits.ts";

/** The most that is read of a refused body before its connection is given up. */
const MOST_DISCARDED_BYTES = MAX_REQUEST_BYTES;

/** A request's JSON body, and its bytes for hashing. `value` is undefined for an empty body. */
export interface JsonBody {
  value: unknown;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Reads a JSON body. Counts the bytes that arrive, whatever Content-Length says, and checks the nesting before
 * parsing, so that no later recursion can overflow the stack.
 *
 * @param remedy added to the refusal of a body that is too large
 * @throws ProblemError 400, 413 or 415
 */
export async function readJson(
  request: Request,
  limits: Limits,
  remedy = FILES_ELSEWHERE,
): Promise<JsonBody> {
  const bytes = await readBytes(request, limits.max_body_bytes, remedy);
  if (bytes.length === 0) return { value: undefined, bytes };
  requireJsonType(request.headers.get("content-type"));
  requireNoCoding(request.headers.get("content-encoding"));
  return { value: jsonIn(bytes, limits, JSON.parse), bytes };
}

/** The beginning of a dumped component, or of its dict, as Python prints it. */
const PYTHON = /^\s*(?:\{\s*'|(?:ComponentModel\()?provider=)/;

/** JSON that has arrived. @param parse gives the value of the text @throws ProblemError 400 */
export function jsonIn<T>(
  bytes: Uint8Array<ArrayBuffer>,
  { max_json_depth }: Pick<Limits, "max_json_depth">,
  parse: (text: string) => T,
): T {
  const text = decode(bytes);
  requireDepth(bytes, max_json_depth);
  try {
    return parse(text);
  } catch (error) {
    const reason = withoutExcerpt((error as SyntaxError).message);
    const remedy = PYTHON.test(text)
      ? ". It is a value as Python prints it: send json.dumps(team.dump_component().model_dump())"
      : "";
    throw malformed(`The body is not JSON: ${reason}${remedy}`);
  }
}

/**
 * The value of a body with exact numbers. Only what passes them on as JSON text can use it: the values of requests go to objects
 * as structured clones, in which such a number would be an object.
 */
export function exactValueOf({ value, bytes }: JsonBody): Json {
  return value === undefined ? {} : parseJson(decode(bytes));
}

/**
 * Reads an unread body to its end. A response sent in the middle of a body breaks its connection: behind a proxy that
 * reuses connections, the next request of another client fails.
 */
export async function discardBody(body: ReadableStream<Uint8Array>): Promise<void> {
  // The client may leave.
  await discard(body.getReader()).catch(() => undefined);
}

/** Reads a body to its end, or until {@link MOST_DISCARDED_BYTES}. */
export async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    length += value.byteLength;
    if (length > MOST_DISCARDED_BYTES) return reader.cancel();
  }
}

const FILES_ELSEWHERE =
  " A file of a message may be in the team's workspace or at a URL instead, named by its path or url.";

/** Reads a body to its end. @param remedy added to the refusal @throws ProblemError 413 */
export async function readBytes(
  request: Request,
  limit: number,
  remedy: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (request.body !== null) {
    const reader = (request.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.byteLength;
      if (length > limit) {
        await discard(reader);
        throw tooLarge(limit, remedy);
      }
      chunks.push(value);
    }
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

function requireJsonType(contentType: string | null): void {
  const [type = "", ...parameters] = (contentType ?? "").toLowerCase().split(";");
  const json =
    type.trim() === "application/json" || /^application\/[\w.-]+\+json$/.test(type.trim());
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith("charset="));
  const utf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (json && utf8) return;
  throw new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: `Send the body as application/json in UTF-8; Content-Type is ${
      contentType === null ? "missing" : JSON.stringify(beginningOf(contentType, 100))
    }.`,
  });
}

/** @throws ProblemError 415 for an encoded body */
export function requireNoCoding(contentEncoding: string | null): void {
  const coding = (contentEncoding ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity") return;
  throw new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: `Send the body without encoding; Content-Encoding is ${JSON.stringify(beginningOf(coding, 100))}.`,
  });
}

/** V8 quotes the text around the mistake, which may hold a secret. */
function withoutExcerpt(message: string): string {
  return message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, "");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw malformed("The body is not valid UTF-8.");
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Counts brackets outside of strings byte by byte: in UTF-8 no byte of a longer character equals one. */
function requireDepth(bytes: Uint8Array, limit: number): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inString) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth++;
      if (depth > limit) throw malformed(`The body is nested deeper than ${limit} levels.`);
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
}

function malformed(detail: string): ProblemError {
  return new ProblemError({ status: 400, code: "malformed_json", detail });
}

export function tooLarge(limit: number, remedy = ""): ProblemError {
  return new ProblemError({
    status: 413,
    code: "body_too_large",
    detail: `The body is larger than ${limit} bytes.${remedy}`,
  });
}

const encoder = new TextEncoder();

/** @throws ProblemError 422 for metadata that is too large */
export function checkMetadata(
  metadata: JsonObject | null | undefined,
  limits: Limits,
  path = "metadata",
): void {
  const size = encoder.encode(JSON.stringify(metadata ?? {})).length;
  if (size <= limits.max_metadata_bytes) return;
  throw invalid("invalid_request", "The metadata is too large.", [
    {
      path,
      message: `is ${size} bytes of JSON; at most ${limits.max_metadata_bytes} are allowed`,
    },
  ]);
}

/** The most bytes of a form that a browser sends. */
const MOST_FORM_BYTES = 200_000;

/** A form that was sent. @param most its bytes: by default those of a page's @throws ProblemError 413 or 415 */
export async function readForm(request: Request, most = MOST_FORM_BYTES): Promise<FormData> {
  const type = request.headers.get("content-type") ?? "";
  const bytes = await readBytes(request, most, "");
  if (/^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i.test(type)) {
    try {
      return await new Response(bytes, { headers: { "content-type": type } }).formData();
    } catch {
      // A form without its boundary, or cut off.
    }
  }
  throw new ProblemError({
    status: 415,
    code: "unsupported_media_type",
    detail: "The body must be a form: multipart/form-data, or as a page sends it.",
  });
}
