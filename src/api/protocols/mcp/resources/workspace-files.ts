import type { ReadResourceResult, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { FileContent } from "../../../../contract/files/workspace-files.ts";
import { ID } from "../../../../contract/constants.ts";
import { toBase64 } from "../../../../core/base64.ts";
import { isTextType } from "../../../../core/models/attached-files.ts";
import { mediaTypeOfPath } from "../../../http/endpoint/media-types.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

const URI = /^troupe:\/\/teams\/([^/?]+)\/files\/([^?#]+)$/;

export function fileTemplate(team: string): ResourceTemplateType {
  return {
    uriTemplate: `troupe://teams/${team}/files/{+path}`,
    name: "file",
    title: "A file of a team's workspace",
    description: "What the team's code has read or written.",
  };
}

export function uriOfFile(team: string, path: string): string {
  return `troupe://teams/${team}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The media type without parameters. */
export function fileMediaType(path: string): string {
  const [type = ""] = mediaTypeOfPath(path).split(";", 1);
  return type;
}

/** A file of a workspace; undefined when there is no such resource. @throws ProblemError */
export async function readFile(
  request: McpRequest,
  uri: string,
): Promise<ReadResourceResult | undefined> {
  const [, team = "", path = ""] = URI.exec(uri) ?? [];
  if (!ID.test(team) || (request.only !== undefined && request.only.id !== team)) return undefined;
  const bytes = await bytesOfFile(request, team, decoded(path));
  if (bytes === undefined) return undefined;
  const mimeType = fileMediaType(path);
  const text = isTextType(mimeType) ? textOf(bytes) : undefined;
  return {
    contents: [
      text === undefined ? { uri, mimeType, blob: toBase64(bytes) } : { uri, mimeType, text },
    ],
  };
}

/** The content of a file; undefined for one that does not exist. @throws ProblemError */
export async function bytesOfFile(
  request: McpRequest,
  id: string,
  path: string,
): Promise<Uint8Array | undefined> {
  const { services } = request;
  const session = await teamOf(request, id).session();
  if (!session.ok && session.problem.status === 404) return undefined;
  if (services.files === undefined) return undefined;
  const read = await (await services.files()).read(unwrap(session), path, "GET");
  if (!read.ok && (read.problem.status === 404 || read.problem.status === 422)) return undefined;
  return allOf(unwrap(read), { path, most: services.limits.max_message_files_bytes });
}

/** @throws ProblemError 413 */
async function allOf(
  { body, size = 0 }: FileContent,
  { path, most }: { path: string; most: number },
): Promise<Uint8Array> {
  const check = (bytes: number): void => {
    if (bytes <= most) return;
    throw new ProblemError({
      status: 413,
      code: "file_too_large",
      detail: `The file ${JSON.stringify(path)} has more than ${most} bytes (MAX_MESSAGE_FILES_BYTES): GET /v1/teams/{team}/files/{path} has all of it.`,
    });
  };
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.byteLength;
    check(Math.max(size, length));
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** Undefined for what is not UTF-8, whatever the name says. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
