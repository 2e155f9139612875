import { getMimeType } from "hono/utils/mime";
import type { RunInfo } from "../../../contract/run.ts";
import { ok, type Result } from "../../../contract/result.ts";
import { unwrap } from "../../http/problem.ts";
import type { Context } from "./request/contexts.ts";
import type { A2ARequest } from "./request/services.ts";
import type { Artifact, Task } from "./wire.ts";

/** Files of a workspace that are looked through. */
const MOST_FILES = 200;

/**
 * The files that were written during a run, by their addresses in the HTTP API, which take the same credential. None for
 * those who may not list files, and without a sandbox.
 */
export async function writtenFiles(
  { services, principal, origin }: A2ARequest,
  { id: teamId, team }: Context,
  { started_at, ended_at }: RunInfo,
): Promise<Result<Artifact[]>> {
  if (services.files === undefined || started_at === null || ended_at === null) return ok([]);
  // Addresses that the caller's own credential would not open are left out.
  const isOther = principal.team !== undefined && principal.team.id !== teamId;
  if (isOther || !principal.scopes.includes("teams:read")) return ok([]);
  const workspace = await services.files();
  const session = unwrap(await team.session());
  const limit = Math.min(MOST_FILES, services.limits.max_page_size);
  const listed = await workspace.list(session, { limit });
  if (!listed.ok) return listed;
  // File systems may round times down to seconds.
  const [from, to] = [Date.parse(started_at) - 1000, Date.parse(ended_at)];
  const written = listed.value.files.filter(({ modified_at }) => {
    const time = Date.parse(modified_at);
    return time >= from && time <= to;
  });
  const base = `${origin}/v1/teams/${teamId}/files`;
  return ok(written.map(({ path }) => fileArtifact(base, path)));
}

/** Where the workspace cannot be reached, the task says so in its metadata. */
export function withFiles(task: Task, files: Result<Artifact[]>): Task {
  if (!files.ok) {
    return { ...task, metadata: { ...task.metadata, "troupe/files_error": files.problem.code } };
  }
  if (files.value.length === 0) return task;
  return { ...task, artifacts: [...(task.artifacts ?? []), ...files.value] };
}

function fileArtifact(base: string, path: string): Artifact {
  const url = `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const filename = path.slice(path.lastIndexOf("/") + 1);
  const mediaType = getMimeType(path.toLowerCase()) ?? "application/octet-stream";
  return { artifactId: `file:${path}`, name: path, parts: [{ url, filename, mediaType }] };
}
