import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { unwrap } from "../../../http/problem.ts";
import { tenantOf } from "../../../http/services.ts";
import { REQUEST_OF_RUN, requestKey } from "../tools/idempotency.ts";
import { type McpRequest, teamOf } from "../services.ts";

const ACTIVE = ["running", "waiting", "queued", "paused"] as const;

/** Cancels the run that a request of this session has started, if it has and the run goes on. */
export async function cancelRun(request: McpRequest, message: JsonObject): Promise<void> {
  const { principal, session } = request;
  const id = isJsonObject(message.params) ? message.params.requestId : undefined;
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return;
  if (!principal.scopes.includes("runs:write")) return;
  const key = await requestKey(session, id);
  const run = (await activeRuns(request)).find(({ metadata }) => metadata[REQUEST_OF_RUN] === key);
  // It may have ended in the meantime.
  if (run !== undefined) await teamOf(request, run.team_id).stopRun(run.id, "now");
}

interface ActiveRun {
  id: string;
  team_id: string;
  metadata: JsonObject;
}

async function activeRuns(request: McpRequest): Promise<ActiveRun[]> {
  const { services, principal, only } = request;
  const limit = services.limits.max_page_size;
  if (only !== undefined) return unwrap(await teamOf(request, only.id).runs({ limit })).runs;
  const tenant = tenantOf(services, principal.tenant);
  const pages = await Promise.all(ACTIVE.map((status) => tenant.runs({ status, limit })));
  return pages.flatMap((page) => unwrap(page).runs);
}
