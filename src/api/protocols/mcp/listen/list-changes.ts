import type { ListedTeam } from "../../../../contract/directory.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { callerOf } from "../../../http/access/access-control.ts";
import { listsOf } from "../../../http/endpoint/services.ts";
import { latestTeams } from "../../shared/latest-teams.ts";
import { eventsOf } from "../session/follow-run.ts";
import type { McpRequest } from "../session/services.ts";
import { MOST_TEAMS } from "../tools/offered-tools.ts";

export interface ListObserver {
  /** A team was added, removed or changed, so that the lists of tools and resources differ. */
  onList: () => void;
  /** A run of the team has started, waits or has ended: its thread has new messages. */
  onThread: (team: string) => void | Promise<void>;
}

/** Passes to an observer what changes in the tenant's lists from the time on when they were opened. */
export type ListChanges = (observer: ListObserver) => Promise<void>;

/**
 * Opens the tenant's feed. Its changes end when the signal aborts, or the Worker has used its CPU time. Nothing of the tenant or of a
 * team stays in memory for it while nothing happens.
 *
 * @throws ProblemError
 */
export async function openLists(request: McpRequest, signal: AbortSignal): Promise<ListChanges> {
  const { services, principal, only, budget } = request;
  const caller = callerOf(principal, { signal });
  const stream = unwrap(await listsOf(services, principal).events(null, "all", caller));
  const teams = only ? [only] : await latestTeams(services, principal, MOST_TEAMS);
  const listedTeams = new Map(teams.map((team) => [team.id, shown(team)]));
  return async ({ onList, onThread }) => {
    for await (const { event, data } of eventsOf(stream, { signal, budget })) {
      if (event === "run") {
        await onThread((JSON.parse(data) as { team_id: string }).team_id);
      } else if (event === "team") {
        const team = JSON.parse(data) as ListedTeam;
        if (!isListed(team) || (only !== undefined && only.id !== team.id)) continue;
        if (listedTeams.get(team.id) !== shown(team)) onList();
        listedTeams.set(team.id, shown(team));
      } else if (event === "team_deleted") {
        if (listedTeams.delete((JSON.parse(data) as { id: string }).id)) onList();
      }
    }
  };
}

/** Lists leave out conversations, and teams for single requests. */
function isListed({ conversation, expires_in }: ListedTeam): boolean {
  return conversation === null && expires_in === null;
}

type ShownTeam = Pick<ListedTeam, "label" | "component_version" | "tool">;

/** The fields of a team that the lists show. */
function shown({ label, component_version, tool }: ShownTeam): string {
  return JSON.stringify([label, component_version, tool]);
}
