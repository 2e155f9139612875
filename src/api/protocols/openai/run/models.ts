import { beginningOf } from "../../../../core/cut.ts";
import type { Model } from "openai/resources/models";
import { ID } from "../../../../contract/constants.ts";
import type { TeamInfo } from "../../../../contract/team.ts";
import type { Template } from "../../../../core/component/template.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { latestTeams } from "../../shared/latest-teams.ts";
import { type OpenAIRequest, teamOf } from "./services.ts";

const TEAM = "team:";
export const TEMPLATE = "template:";
/** The teams with the latest activity that are listed. */
const MOST_TEAMS = 1_000;

/** The model that a request names. */
export type NamedModel =
  | { type: "team"; team: TeamInfo }
  | { type: "template"; template: Template };

/** The team that a model's name means, if it has the form of one. */
export function teamOfModel(name: string): string | undefined {
  const id = name.startsWith(TEAM) ? name.slice(TEAM.length) : "";
  return ID.test(id) ? id : undefined;
}

/** @throws ProblemError 404 */
export async function findModel(request: OpenAIRequest, name: string): Promise<NamedModel> {
  if (name.startsWith(TEMPLATE)) {
    const templates = await request.services.templates();
    const template = templates.find((one) => TEMPLATE + one.name === name);
    if (template !== undefined) return { type: "template", template };
  }
  const id = teamOfModel(name);
  if (id !== undefined) {
    const found = await teamOf(request, id).team();
    if (found.ok) return { type: "team", team: found.value };
    if (found.problem.status !== 404) unwrap(found);
  }
  throw modelNotFound(name);
}

export function modelNotFound(name: string): ProblemError {
  return new ProblemError({
    status: 404,
    code: "model_not_found",
    detail: `There is no model ${JSON.stringify(beginningOf(name, 100))}: models are team:{id} and template:{name}, GET /models lists them.`,
  });
}

/** The templates, and the teams with the latest activity; for a team token its team. @throws ProblemError */
export async function listModels(request: OpenAIRequest): Promise<Model[]> {
  const { services, principal } = request;
  if (principal.team !== undefined) return [await getModel(request, TEAM + principal.team.id)];
  const templates = (await services.templates()).map(({ name }) =>
    modelOf(TEMPLATE + name, "troupe"),
  );
  const teams = (await latestTeams(services, principal, MOST_TEAMS)).map(({ id, created_at }) =>
    modelOf(TEAM + id, principal.tenant, created_at),
  );
  return [...templates, ...teams];
}

/** @throws ProblemError 404 */
export async function getModel(request: OpenAIRequest, name: string): Promise<Model> {
  const model = await findModel(request, name);
  return model.type === "team"
    ? modelOf(name, request.principal.tenant, model.team.created_at)
    : modelOf(name, "troupe");
}

function modelOf(id: string, owned_by: string, created?: string): Model {
  const time = created === undefined ? 0 : Math.floor(Date.parse(created) / 1000);
  return { id, object: "model", created: time, owned_by };
}
