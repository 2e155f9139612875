import type { RunInfo } from "../../../../contract/run.ts";
import type { ListedRun } from "../../../../contract/directory.ts";
import { beginningOf } from "../../../../core/cut.ts";
import { type Asker, askerOf } from "../../../http/access/access-control.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { activeRuns } from "../run/active-runs.ts";
import { REQUEST_OF_RUN, TOOL_OF_RUN } from "../run/idempotency.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

/** Characters of a task that lists show at least. */
const COMPARED = 200;

/** A call of a tool whose result the client does not have yet. */
export interface RunningCall {
  /** The team that it runs, where the tool says so. */
  team_id?: string | undefined;
  /** Its argument `task`. */
  task?: string | undefined;
  /** The name of the tool, if the host says it: an own tool of a team makes the task itself. */
  tool?: string | undefined;
}

/**
 * The newest active run that the caller has started with a call of a tool. A page that is shown with the call has its arguments, and
 * no id that the server knows.
 *
 * @throws ProblemError
 */
export async function findRun(
  request: McpRequest,
  call: RunningCall,
): Promise<{ team_id: string; id: string } | undefined> {
  const { team_id: team = request.only?.id } = call;
  const { max_page_size: limit } = request.services.limits;
  const runs: (RunInfo | ListedRun)[] =
    team === undefined
      ? await activeRuns(request)
      : unwrap(await teamOf(request, team).runs({ limit, task: "preview" })).runs;
  const asker = askerOf(request.principal);
  const candidates = runs
    .filter((run) => run.ended_at === null && isBy(run, asker) && isOf(run, call))
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  for (const { id, team_id } of candidates) {
    // Lists of the tenant have conversations of other callers, too.
    const found = await teamOf(request, team_id).run(id);
    if (found.ok) return { team_id, id };
  }
  return undefined;
}

/** True for a run that the caller has started: others may give the same task. */
function isBy(run: RunInfo | ListedRun, { user, subject }: Asker): boolean {
  return (run.user ?? undefined) === user && (run.subject ?? undefined) === subject;
}

function isOf({ metadata, task }: RunInfo | ListedRun, call: RunningCall): boolean {
  if (metadata[TOOL_OF_RUN] !== undefined) return metadata[TOOL_OF_RUN] === call.tool;
  if (metadata[REQUEST_OF_RUN] === undefined || call.task === undefined) return false;
  // Lists have the beginning of a task, with words for its files.
  return typeof task === "string" && task.startsWith(beginningOf(call.task, COMPARED));
}
