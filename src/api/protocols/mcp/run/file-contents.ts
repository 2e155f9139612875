import type { ContentBlock } from "@modelcontextprotocol/server";
import type { WorkspaceFile } from "../../../../contract/files/workspace-files.ts";
import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { toBase64 } from "../../../../core/base64.ts";
import { ProblemError } from "../../../http/endpoint/problem.ts";
import { writtenFiles } from "../../shared/written-files.ts";
import { bytesOfFile, fileMediaType, uriOfFile } from "../resources/workspace-files.ts";
import type { McpRequest } from "../session/services.ts";

/** The first revision of the protocol whose results may have links. */
const FIRST_WITH_LINKS = "2025-06-18";

/** Bytes of audio that a result has; a larger file is a link. */
const MOST_AUDIO_BYTES = 1_000_000;

/**
 * The files that a run has written into its team's workspace: audio that can be played at once, the others as links to resources.
 * They are left out for clients of revisions that have no links, and when the workspace cannot be reached.
 *
 * @throws ProblemError for a team that does not exist
 */
export async function fileContents(
  request: McpRequest,
  team: TeamGateway,
  run: RunInfo,
): Promise<ContentBlock[]> {
  if (request.version < FIRST_WITH_LINKS) return [];
  const written = await writtenFiles(request.services, request.principal, team, run);
  if (!written.ok) return [];
  const contents: ContentBlock[] = [];
  let room = MOST_AUDIO_BYTES;
  for (const file of written.value) {
    const isShown = fileMediaType(file.path).startsWith("audio/") && file.size <= room;
    if (isShown) room -= file.size;
    contents.push(
      (isShown && (await audio(request, run.team_id, file))) || link(run.team_id, file),
    );
  }
  return contents;
}

/** Undefined for a file that cannot be read any more. */
async function audio(
  request: McpRequest,
  team: string,
  { path }: WorkspaceFile,
): Promise<ContentBlock | undefined> {
  const bytes = await bytesOfFile(request, team, path).catch((error: unknown) => {
    if (error instanceof ProblemError) return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  return {
    type: "audio",
    data: toBase64(bytes),
    mimeType: fileMediaType(path),
    _meta: { "troupe/uri": uriOfFile(team, path) },
  };
}

function link(team: string, { path, size }: WorkspaceFile): ContentBlock {
  return {
    type: "resource_link",
    uri: uriOfFile(team, path),
    name: path,
    mimeType: fileMediaType(path),
    size,
  };
}
