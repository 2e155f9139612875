import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import { dataUrlBytes, toBase64 } from "../../../core/base64.ts";
import { TroupeError } from "../../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { imageMediaType } from "../../../core/models/images.ts";
import { invalid, ProblemError, unwrap } from "../endpoint/problem.ts";
import type { MessageServices } from "../endpoint/services.ts";
import { type GivenFile, partOfFile } from "./file-parts.ts";

export { addTexts } from "./document-texts.ts";

type FileServices = Pick<MessageServices, "limits" | "fetch" | "files">;

/** A part of a message that brings a file: its bytes, or where they are. */
interface FilePart {
  data?: unknown;
  /** In the team's workspace. */
  path?: unknown;
  url?: unknown;
  name?: unknown;
  media_type?: unknown;
}

const KEYS = new Set(["data", "path", "url", "name", "media_type"]);
const PLACES = ["data", "path", "url"] as const;

/** The number of files of one request that are fetched. */
const MOST_URLS = 10;
const FETCH_MS = 15_000;

/**
 * A task or a message of a request with its files in it: what a part names by `path` or `url` is read, and bytes are
 * checked to be what they are said to be. What is not part of a message is left as it is.
 *
 * @throws ProblemError 422 at the part, 502 or 503 when the workspace cannot be reached
 */
export async function withFiles(
  input: unknown,
  path: string,
  team: TeamGateway | undefined,
  services: FileServices,
): Promise<unknown> {
  const used = { urls: 0, bytes: 0 };
  const withParts = async (message: unknown, place: string): Promise<unknown> => {
    if (!isJsonObject(message) || !Array.isArray(message["content"])) return message;
    const { content } = message;
    if (message["type"] !== "MultiModalMessage" || !content.some(isJsonObject)) return message;
    const parts: Json[] = [];
    for (const [index, part] of content.entries()) {
      const at = `${place}.content[${index}]`;
      parts.push(isJsonObject(part) ? await read(part, at) : part);
    }
    return { ...message, content: parts };
  };
  const read = async (part: FilePart & JsonObject, at: string): Promise<JsonObject> => {
    const file = partOfFile(await givenFile(part, at, { team, services, used }));
    if (typeof file !== "string") return file;
    const key = PLACES.find((name) => name in part) ?? "data";
    throw refused(`${at}.${key}`, file);
  };
  if (!Array.isArray(input)) return withParts(input, path);
  const messages: unknown[] = [];
  for (const [index, message] of input.entries())
    messages.push(await withParts(message, `${path}[${index}]`));
  return messages;
}

interface Sources {
  team: TeamGateway | undefined;
  services: FileServices;
  /** By the files of the request so far. */
  used: { urls: number; bytes: number };
}

async function givenFile(part: FilePart, at: string, sources: Sources): Promise<GivenFile> {
  const unknown = Object.keys(part).find((key) => !KEYS.has(key) && key !== "text");
  if (unknown !== undefined) throw refused(`${at}.${unknown}`, "is not a field of a file");
  const places = PLACES.filter((name) => part[name] !== undefined);
  const [place] = places;
  if (place === undefined || places.length > 1) {
    const message =
      "must have one of data (base64), path (in the team's workspace) and url, and may have name and media_type";
    throw refused(at, message);
  }
  for (const key of [place, "name", "media_type"] as const) {
    if (part[key] !== undefined && typeof part[key] !== "string")
      throw refused(`${at}.${key}`, "must be a text");
  }
  const { name, media_type } = part as { name?: string; media_type?: string };
  const value = part[place] as string;
  if (place === "data") {
    // Programs such as base64 break lines.
    const data = value.replaceAll(/\s/g, "");
    if (name === undefined && media_type === undefined && imageMediaType(data) === undefined) {
      const message =
        "must be base64 of a PNG, JPEG, WebP or GIF picture; another file needs name and media_type";
      throw refused(`${at}.data`, message);
    }
    return { data, name, mediaType: media_type };
  }
  if (place === "path") {
    const data = await workspaceFile(value, `${at}.path`, sources);
    return { data, name: name ?? lastName(value), mediaType: media_type };
  }
  const inUrl = dataUrlBytes(value);
  if (inUrl !== undefined) {
    return { data: inUrl.data, name, mediaType: media_type ?? (inUrl.mediaType || undefined) };
  }
  const { data, type } = await fetchedFile(value, `${at}.url`, sources);
  return { data, name: name ?? nameInUrl(value), mediaType: media_type ?? type };
}

async function workspaceFile(path: string, at: string, sources: Sources): Promise<string> {
  const { team, services } = sources;
  if (services.files === undefined) {
    throw refused(
      at,
      "needs a workspace, and this server has no sandbox: set SANDBOX_URL, or send the file itself",
    );
  }
  if (team === undefined) throw refused(at, "needs a team that exists: send the file itself");
  const names = path.split("/");
  if (names.some((one) => one === "" || one === "." || one === "..") || path.includes("\\"))
    throw refused(at, "must be the path of a file, without empty names, . and ..");
  const files = await services.files();
  const found = await files.read(unwrap(await team.session()), path, "GET");
  if (!found.ok) {
    const { problem } = found;
    if (problem.status !== 404 && problem.status !== 422) throw new ProblemError(problem);
    throw refused(at, `cannot be read from the team's workspace: ${problem.detail}`);
  }
  return readAll(found.value.body, found.value.size, at, sources);
}

async function fetchedFile(
  url: string,
  at: string,
  sources: Sources,
): Promise<{ data: string; type: string | undefined }> {
  const { services, used } = sources;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw refused(at, "must be an https: URL, or a data: URL with base64");
  if (++used.urls > MOST_URLS)
    throw refused(at, `is one too many: at most ${MOST_URLS} files of a request are fetched`);
  let response: Response;
  try {
    response = await services.fetch(url, { signal: AbortSignal.timeout(FETCH_MS) });
  } catch (error) {
    if (error instanceof TroupeError) throw refused(at, `is not fetched: ${error.message}`);
    throw refused(at, `cannot be fetched from ${JSON.stringify(new URL(url).host)}`);
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw refused(at, `cannot be fetched: the server answers ${response.status}`);
  }
  const type = response.headers.get("content-type") ?? undefined;
  const length = response.headers.get("content-length");
  const size = length === null ? undefined : Number(length);
  return { data: await readAll(response.body, size, at, sources), type };
}

/** All bytes, as base64. @throws ProblemError 422 for more than the files of a request can have */
async function readAll(
  body: ReadableStream<Uint8Array> | null,
  size: number | undefined,
  at: string,
  { services, used }: Sources,
): Promise<string> {
  const most = services.limits.max_message_files_bytes;
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (body !== null) {
    const reader = body.getReader();
    try {
      for (;;) {
        if (used.bytes + Math.max(size ?? 0, length) > most)
          throw refused(
            at,
            `is too large: all files and images together have at most ${most} bytes (MAX_MESSAGE_FILES_BYTES)`,
          );
        const { done, value } = await reader.read();
        if (done) break;
        chunks.push(value);
        length += value.byteLength;
      }
    } catch (error) {
      await reader.cancel().catch(() => undefined);
      if (error instanceof ProblemError) throw error;
      throw refused(at, "cannot be read to its end");
    }
  }
  used.bytes += length;
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return toBase64(bytes);
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function nameInUrl(url: string): string | undefined {
  const name = lastName(new URL(url).pathname);
  try {
    return decodeURIComponent(name) || undefined;
  } catch {
    return name;
  }
}

function refused(path: string, message: string): ProblemError {
  const code = path.startsWith("content") ? "invalid_answer" : "invalid_task";
  return invalid(code, "A file of the message is invalid.", [{ path, message }]);
}
