import { ID } from "../../../../contract/constants.ts";
import type { ListedTeam } from "../../../../contract/directory.ts";
import { descriptionOf } from "../../../../core/component/description.ts";
import type { Template } from "../../../../core/component/template.ts";
import { latestTeams } from "../../shared/latest-teams.ts";
import { RUN_PREFIX } from "../session/access.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { type NamedTool, nameTools, toolName } from "./tool-names.ts";

/** The teams and templates that have a tool each. With more, one tool runs any team, and one any template. */
const MOST_RUN_TOOLS = 20;
/** The teams with the latest activity whose names calls may use. */
export const MOST_TEAMS = 1_000;

/** The tools of the tenant's teams and of the templates by their names; undefined for too many. */
export async function offeredTools(
  request: McpRequest,
): Promise<Map<string, NamedTool<ListedTeam>> | undefined> {
  const templates = await request.services.templates();
  const room = MOST_RUN_TOOLS - templates.length;
  if (room < 0) return undefined;
  const teams = await latestTeams(request.services, request.principal, room + 1, hasNoOwn);
  return teams.length > room ? undefined : nameTools(teams, templates);
}

function hasNoOwn({ tool }: ListedTeam): boolean {
  return tool === undefined;
}

/** The team or the template of a tool with a name like `run_desk`, also where none is listed; undefined for an unknown one. */
export async function toolNamed(
  request: McpRequest,
  name: string,
): Promise<{ team: Pick<ListedTeam, "id"> } | { template: Template } | undefined> {
  const { only, services, principal } = request;
  if (!name.startsWith(RUN_PREFIX)) return undefined;
  const id = name.slice(RUN_PREFIX.length);
  if (only !== undefined)
    return toolName(only) === name || only.id === id ? { team: only } : undefined;
  const teams = await latestTeams(services, principal, MOST_TEAMS, hasNoOwn);
  const listed = nameTools(teams, await services.templates()).get(name);
  if (listed !== undefined) return listed;
  // A team that was created just now, or one of too many.
  if (!ID.test(id)) return undefined;
  return (await teamOf(request, id).team()).ok ? { team: { id } } : undefined;
}

/** The description of a listed team. Its object is asked about one that an earlier version has listed. */
export async function describedTeam(
  request: McpRequest,
  { id, provider, description }: Pick<ListedTeam, "id" | "provider" | "description">,
): Promise<string> {
  if (description !== undefined) return description;
  const team = await teamOf(request, id).team();
  return team.ok ? descriptionOf(team.value.component) : provider;
}
