import { ValueError } from "../errors.ts";
import type { Member } from "./runnable.ts";

/**
 * The place of a recipient in a team: the names from the team down to it. Undefined if that is the whole team, a single agent.
 *
 * @param to the name of an agent or of an inner team, or a path: `outer/inner`, which may begin with the name of the whole team
 * @throws ValueError for an unknown name, and for one that several have
 */
export function pathTo(team: Member, to: string): string | undefined {
  const paths = pathsIn(team.members ?? []);
  if (to === team.name && !paths.includes(to)) return undefined;
  const below = to.startsWith(`${team.name}/`) ? to.slice(team.name.length + 1) : undefined;
  if (below !== undefined && paths.includes(below)) return below;
  const found = paths.filter((path) => path === to || path.endsWith(`/${to}`));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const message =
    found.length > 1
      ? `"${to}" is the name of several agents: give the path, one of ${listed(found.map((path) => `${team.name}/${path}`))}`
      : `there is no agent "${to}"; there are: ${listed(paths.length > 0 ? paths : [team.name])}`;
  throw new ValueError(`to: ${message}`, { issues: [{ path: "to", message }] });
}

function pathsIn(members: readonly Member[]): string[] {
  return members.flatMap(({ name, members: inner = [] }) => [
    name,
    ...pathsIn(inner).map((path) => `${name}/${path}`),
  ]);
}

function listed(paths: readonly string[]): string {
  return paths.map((path) => `"${path}"`).join(", ");
}
