import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { WorkspaceFile } from "../../../contract/files/workspace-files.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { ok, type Result } from "../../../contract/result.ts";
import type { Principal } from "../../auth/principal.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import type { Services } from "../../http/endpoint/services.ts";

/** At most this many files of a workspace are looked at. */
const MOST_FILES = 200;

/**
 * The files of the workspace that were written during a run. None for those who may not list files, and without a sandbox.
 *
 * @throws ProblemError for a team that does not exist
 */
export async function writtenFiles(
  services: Pick<Services, "files" | "limits">,
  principal: Principal,
  team: TeamGateway,
  { team_id, started_at, ended_at }: RunInfo,
): Promise<Result<WorkspaceFile[]>> {
  if (services.files === undefined || started_at === null || ended_at === null) return ok([]);
  // A caller gets no file that its credential could not open.
  const isOther = principal.team !== undefined && principal.team.id !== team_id;
  if (isOther || !principal.scopes.includes("teams:read")) return ok([]);
  const workspace = await services.files();
  const session = unwrap(await team.session());
  const limit = Math.min(MOST_FILES, services.limits.max_page_size);
  const listed = await workspace.list(session, { limit });
  if (!listed.ok) return listed;
  // File systems may round times down to seconds.
  const [from, to] = [Date.parse(started_at) - 1000, Date.parse(ended_at)];
  return ok(
    listed.value.files.filter(({ modified_at }) => {
      const time = Date.parse(modified_at);
      return time >= from && time <= to;
    }),
  );
}
