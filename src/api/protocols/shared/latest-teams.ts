import type { ListedTeam, TeamList } from "../../../contract/directory.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import type { Principal } from "../../auth/principal.ts";
import { listsOf, type Services } from "../../http/endpoint/services.ts";

/**
 * The caller's lasting teams, with the latest activity first: at least `atLeast` of them, or all if there are fewer.
 *
 * @param counts those that are taken; by default all
 * @throws ProblemError
 */
export async function latestTeams(
  services: Pick<Services, "tenants" | "limits">,
  principal: Principal,
  atLeast: number,
  counts: (team: ListedTeam) => boolean = () => true,
): Promise<ListedTeam[]> {
  const teams: ListedTeam[] = [];
  let cursor: string | null = null;
  do {
    const page: TeamList = unwrap(
      await listsOf(services, principal).teams({
        metadata: {},
        lasting: true,
        order: "newest",
        limit: services.limits.max_page_size,
        ...(cursor !== null && { cursor }),
      }),
    );
    teams.push(...page.teams.filter(counts));
    cursor = page.next_cursor;
  } while (cursor !== null && teams.length < atLeast);
  return teams;
}
