import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { WorkspaceFiles } from "../../../contract/files/workspace-files.ts";
import { fileCommands } from "../../../contract/commands/files.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { mediaTypeOfPath } from "../endpoint/media-types.ts";
import { ProblemError, unwrap } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";
import { Upload } from "../input/upload.ts";

/** Images that cannot contain scripts, unlike SVG. */
const PICTURES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
]);

/** The files of a team's workspace, which its code reads and writes. */
export function fileEndpoints(services: Services): Endpoint[] {
  const { files, limits } = services;

  /** The workspace, once it is known that the team exists. */
  const workspaceOf = async (
    team: TeamGateway,
  ): Promise<{ files: WorkspaceFiles; session: string }> => {
    const session = unwrap(await team.session());
    if (files !== undefined) return { files: await files(), session };
    throw new ProblemError({
      status: 503,
      code: "sandbox_not_configured",
      repeatable: false,
      detail: "Files are kept by the sandbox, and this server has none: set SANDBOX_URL.",
    });
  };

  return commandEndpoints(fileCommands, services, {
    async listFiles({ team, query }) {
      const workspace = await workspaceOf(team);
      const page = unwrap(await workspace.files.list(workspace.session, query));
      return json({
        files: page.files.map((file) => ({ ...file, media_type: mediaTypeOfPath(file.path) })),
        next_cursor: page.next_cursor,
      });
    },

    async getFile({ team, file, c }) {
      const path = file();
      const { files: workspace, session } = await workspaceOf(team);
      const method = c.req.raw.method === "HEAD" ? "HEAD" : "GET";
      const { body, size, modified } = unwrap(await workspace.read(session, path, method));
      return new Response(body, {
        headers: {
          ...headersOf(path),
          ...(size !== undefined && { "content-length": String(size) }),
          ...(modified !== undefined && { "last-modified": modified }),
        },
      });
    },

    async putFile({ team, file, c }) {
      const path = file();
      const { files: workspace, session } = await workspaceOf(team);
      const upload = new Upload(c.req.raw, limits.max_file_bytes);
      const written = await workspace.write(session, path, upload.stream(), upload.broken);
      await upload.end();
      const { created } = unwrap(written);
      if (!created) return new Response(null, { status: 204 });
      return new Response(null, {
        status: 201,
        headers: { location: new URL(c.req.url).pathname },
      });
    },

    async deleteFile({ team, file }) {
      const path = file();
      const { files: workspace, session } = await workspaceOf(team);
      unwrap(await workspace.remove(session, path));
      return new Response(null, { status: 204 });
    },
  });
}

/** Code wrote the file: it must not become a page of this origin, whatever its name and content are. */
function headersOf(path: string): Record<string, string> {
  const type = mediaTypeOfPath(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  const disposition = PICTURES.has(type) ? "inline" : "attachment";
  return {
    "content-type": type,
    "content-disposition": `${disposition}; filename*=UTF-8''${encodeName(name)}`,
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

/** RFC 8187. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
