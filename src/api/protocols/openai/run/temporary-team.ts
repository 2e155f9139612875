import type { Template } from "../../../../core/component/template.ts";
import { authorOf, type Principal } from "../../../auth/principal.ts";
import { requireScope } from "../../../http/access/access-control.ts";
import { preparedRunnable } from "../../../http/input/component.ts";
import { makeTemplateCollection } from "../../../http/input/template-collection.ts";
import { newTeamId, reservedId } from "../../../http/input/team-input.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { type ResponseSettings, temporaryTeam } from "../request/response-settings.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";

/** Seconds without a run after which the team of a request is erased. */
const LIFETIME_S = 3600;
/** The same for a request that wants nothing to be kept: long enough for a client that reads its stream again. */
const UNKEPT_LIFETIME_S = 60;

/**
 * Callers who have only their own teams make them with the scope of runs, which the call needs anyway: other callers do not see these teams.
 *
 * @throws ProblemError 403
 */
function requireTeamsWrite(principal: Principal): void {
  if (principal.own_teams_of === undefined) requireScope("teams:write", principal);
}

/** Makes a team for one request, and gives its id. The same request again finds it. @throws ProblemError */
export async function makeTeam(
  request: OpenAIRequest,
  { name, component: given, collection }: Template,
  { kept, makes }: { kept: boolean; makes: string | undefined },
): Promise<string> {
  const { services, principal, idempotency } = request;
  requireTeamsWrite(principal);
  const { component } = await preparedRunnable({ ...given }, services);
  const wanted = makes ?? (await newTeamId(principal.tenant, "openai", idempotency));
  const id = await reservedId(services.tenants, principal, wanted, idempotency);
  if (collection) await makeTemplateCollection(collection, principal.tenant, services);
  const made = unwrap(
    await teamOf(request, id).create({
      id,
      label: name,
      metadata: temporaryTeam(name),
      component,
      by: authorOf(principal),
      user: principal.own_teams_of,
      expires_in: kept ? LIFETIME_S : UNKEPT_LIFETIME_S,
      ...(idempotency && { idempotency }),
    }),
  );
  return made.id;
}

/**
 * Keeps the team of a response that was not to be stored as long as others, when a response continues it that is.
 *
 * @throws ProblemError
 */
export async function keepTeam(
  request: OpenAIRequest,
  { id, kept }: { id: string; kept: boolean },
  before: Pick<ResponseSettings, "kept">,
): Promise<void> {
  if (kept && !before.kept) unwrap(await teamOf(request, id).keepFor(LIFETIME_S));
}

/**
 * The team in which a conversation continues after a finished run: the run's own, or a fork if other runs came after it.
 *
 * @returns its id
 * @throws ProblemError
 */
export async function continuedTeam(
  request: OpenAIRequest,
  run: { id: string; team_id: string; turn: number },
): Promise<string> {
  const { services, principal, idempotency } = request;
  const team = teamOf(request, run.team_id);
  const { runs } = unwrap(await team.runs({ limit: 1 }));
  if (runs[0]?.id === run.id) return run.team_id;
  requireTeamsWrite(principal);
  const call = `openai ${run.team_id} ${run.id}`;
  const own = idempotency && { ...idempotency, hash: `${call} ${idempotency.hash}` };
  const wanted = await newTeamId(principal.tenant, call, idempotency);
  const id = await reservedId(services.tenants, principal, wanted, own);
  const by = authorOf(principal);
  return unwrap(await team.fork({ id, turn: run.turn, by, ...(own && { idempotency: own }) })).id;
}
