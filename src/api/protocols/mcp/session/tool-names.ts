import { beginningOf } from "../../../../core/cut.ts";
import { trimEnd } from "../../../../core/text/trim-end.ts";
import { ID } from "../../../../contract/constants.ts";
import type { TeamInfo } from "../../../../contract/team.ts";
import { latestTeams } from "../../shared/latest-teams.ts";
import { type McpRequest, teamOf } from "./services.ts";

/** A team by which a tool is named. */
export interface NamedTeam {
  id: string;
  label: string | null;
  created_at: string;
}

const PREFIX = "run_";
/** Model APIs take no longer names. */
const LONGEST_NAME = 64;
/** The teams with the latest activity that are tools: no model can choose among more. */
export const MOST_TEAMS = 1_000;

/**
 * The name of the tool of each team: `run_` and its label, or its id where it has none. Characters that models do not
 * accept become `_`. Of several teams with one name the oldest keeps it, the others have their ids added.
 */
export function nameTools<T extends NamedTeam>(teams: readonly T[]): Map<string, T> {
  const named = new Map<string, T>();
  const sorted = teams.toSorted(
    (a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id),
  );
  for (const team of sorted) {
    let name = toolName(team);
    if (named.has(name)) {
      const room = Math.max(PREFIX.length, LONGEST_NAME - team.id.length - 1);
      name = `${beginningOf(name, room)}_${team.id}`;
    }
    while (named.has(name)) name += "_";
    named.set(name, team);
  }
  return named;
}

/** The name of a team's tool where it is the only one. */
export function toolName({ id, label }: Pick<NamedTeam, "id" | "label">): string {
  const text = trimEnd((label ?? "").replaceAll(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+/, ""), "_");
  return text === "" ? PREFIX + id : beginningOf(PREFIX + text, LONGEST_NAME);
}

/** The tenant's teams by the names of their tools, oldest first. */
export async function tenantTools(request: McpRequest): Promise<Map<string, NamedTeam>> {
  const { services, principal } = request;
  return nameTools(await latestTeams(services, principal, MOST_TEAMS));
}

/** The id of the team that a tool runs; undefined when there is no such tool. */
export async function teamOfTool(request: McpRequest, name: string): Promise<string | undefined> {
  const { only } = request;
  if (only !== undefined)
    return [toolName(only), PREFIX + only.id].includes(name) ? only.id : undefined;
  if (!name.startsWith(PREFIX)) return undefined;
  const listed = (await tenantTools(request)).get(name);
  if (listed !== undefined) return listed.id;
  // A team that was created just now, or one of too many.
  const id = name.slice(PREFIX.length);
  if (!ID.test(id)) return undefined;
  const team = await teamOf(request, id).team();
  return team.ok ? id : undefined;
}

/** The teams of a page of tools as they are now; those deleted in the meantime are left out. */
export async function readTeams(
  request: McpRequest,
  ids: readonly string[],
): Promise<Map<string, TeamInfo>> {
  const results = await Promise.all(ids.map((id) => teamOf(request, id).team()));
  return new Map(results.flatMap((result) => (result.ok ? [[result.value.id, result.value]] : [])));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
