import { beginningOf } from "../../../../core/cut.ts";
import { trimEnd } from "../../../../core/text/trim-end.ts";
import type { Template } from "../../../../core/component/template.ts";
import type { ListedTeam } from "../../../../contract/directory.ts";
import { RUN_PREFIX, RUN_TEAM, RUN_TEMPLATE } from "../session/access.ts";

/** A team by which a tool is named. */
export type NamedTeam = Pick<ListedTeam, "id" | "label" | "created_at">;

/** The team or the template that a tool runs. */
export type NamedTool<T extends NamedTeam> = { team: T } | { template: Template };

/** Model APIs take no longer names. */
const LONGEST_NAME = 64;
const OF_TEMPLATE = "_template";

/**
 * The name of the tool of each team: `run_` and its label, or its id where it has none. Characters that models do not
 * accept become `_`. Of several teams with one name the oldest keeps it, the others have their ids added. Templates follow,
 * by their names.
 */
export function nameTools<T extends NamedTeam>(
  teams: readonly T[],
  templates: readonly Template[] = [],
): Map<string, NamedTool<T>> {
  const named = new Map<string, NamedTool<T>>();
  const isTaken = (name: string): boolean =>
    named.has(name) || name === RUN_TEAM || name === RUN_TEMPLATE;
  const add = (wanted: string, ending: string, tool: NamedTool<T>): void => {
    let name = wanted;
    if (isTaken(name)) {
      const room = Math.max(RUN_PREFIX.length, LONGEST_NAME - ending.length);
      name = `${beginningOf(name, room)}${ending}`;
    }
    while (isTaken(name)) name += "_";
    named.set(name, tool);
  };
  const sorted = teams.toSorted(
    (a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id),
  );
  for (const team of sorted) add(toolName(team), `_${team.id}`, { team });
  for (const template of templates.toSorted((a, b) => compare(a.name, b.name))) {
    const { name } = template;
    add(toolName({ id: name, label: name }), OF_TEMPLATE, { template });
  }
  return named;
}

/** The name of a team's tool where it is the only one. */
export function toolName({ id, label }: Pick<NamedTeam, "id" | "label">): string {
  const text = trimEnd((label ?? "").replaceAll(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+/, ""), "_");
  return text === "" ? RUN_PREFIX + id : beginningOf(RUN_PREFIX + text, LONGEST_NAME);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
