import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { readChunks } from "../body.ts";
import { type Endpoint, json } from "../endpoint.ts";
import { fileQuery } from "../schemas.ts";
import { readQuery } from "../query.ts";
import type { Services } from "../services.ts";

const FILE = "/v1/sessions/:session/files/:path{[^]*}";

export function fileEndpoints({ sessions, settings }: Services): Endpoint[] {
  return [
    {
      method: "get",
      path: "/v1/sessions/:session/files",
      id: "listFiles",
      summary: "List the files of a session",
      query: fileQuery,
      answers: { 200: { description: "The files, sorted by path.", schema: "Files" } },
      problems: [422],
      async handle(call) {
        const query = readQuery(call.request, fileQuery);
        return json(await sessions.files(call.session(), (files) => files.list(query)));
      },
    },
    {
      method: "get",
      path: FILE,
      id: "getFile",
      summary: "Read a file",
      answers: {
        200: { description: "The bytes of the file.", media: "application/octet-stream" },
      },
      problems: [404, 422],
      async handle(call) {
        const path = call.file();
        const file = await sessions.files(call.session(), (files) => files.open(path));
        return new Response(await bodyOf(call.request, file.handle), {
          headers: {
            "content-type": "application/octet-stream",
            "content-length": String(file.size),
            "last-modified": new Date(file.modifiedAt).toUTCString(),
            "cache-control": "no-store",
            // Files that code wrote must not become pages of this origin.
            "content-disposition": "attachment",
            "x-content-type-options": "nosniff",
          },
        });
      },
    },
    {
      method: "put",
      path: FILE,
      id: "putFile",
      summary: "Write a file and create missing directories",
      body: "bytes",
      answers: {
        201: { description: "The file was created." },
        204: { description: "The file was replaced." },
      },
      problems: [409, 413, 415, 422, 429],
      async handle(call) {
        const path = call.file();
        const session = call.session();
        const content = readChunks(call.request, settings.maxFileBytes);
        const created = await sessions
          .newFiles(session, (files) => files.put(path, content))
          .catch(async (error: unknown) => {
            await drain(content);
            throw error;
          });
        return new Response(null, { status: created ? 201 : 204 });
      },
    },
    {
      method: "delete",
      path: FILE,
      id: "deleteFile",
      summary: "Remove a file",
      answers: { 204: { description: "The file was removed." } },
      problems: [404, 409, 422],
      async handle(call) {
        const path = call.file();
        await sessions.files(call.session(), (files) => files.remove(path));
        return new Response(null, { status: 204 });
      },
    },
  ];
}

/** Reads the rest of a body: a response before its end would close the connection. */
async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

/** No body for HEAD: it would not be read, and the file would stay open. */
async function bodyOf(
  { method }: Request,
  handle: FileHandle,
): Promise<ReadableStream<Uint8Array> | null> {
  if (method !== "HEAD")
    return Readable.toWeb(handle.createReadStream()) as ReadableStream<Uint8Array>;
  await handle.close();
  return null;
}
