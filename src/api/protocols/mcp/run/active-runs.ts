import type { ListedRun } from "../../../../contract/directory.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { listsOf } from "../../../http/endpoint/services.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { REQUEST_OF_RUN } from "./idempotency.ts";

const ACTIVE = ["running", "waiting", "queued", "paused"] as const;

/** The active run that the call with this key has started; undefined if there is none. @throws ProblemError */
export async function activeRunOf(
  request: McpRequest,
  key: string,
): Promise<RunInfo | ListedRun | undefined> {
  return (await activeRuns(request)).find(({ metadata }) => metadata[REQUEST_OF_RUN] === key);
}

/** Those of the tenant, or of the team at the address of one. @throws ProblemError */
export async function activeRuns(request: McpRequest): Promise<(RunInfo | ListedRun)[]> {
  const { services, principal, only } = request;
  const limit = services.limits.max_page_size;
  if (only !== undefined) return unwrap(await teamOf(request, only.id).runs({ limit })).runs;
  const lists = listsOf(services, principal);
  const pages = await Promise.all(ACTIVE.map((status) => lists.runs({ status, limit })));
  return pages.flatMap((page) => unwrap(page).runs);
}
