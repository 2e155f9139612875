import type { ListedTeam, TeamList } from "../../../contract/directory.ts";
import { unwrap } from "../../http/problem.ts";
import { type Services, tenantOf } from "../../http/services.ts";

/**
 * The tenant's lasting teams, with the latest activity first: at least `atLeast` of them, or all if there are fewer.
 *
 * @throws ProblemError
 */
export async function latestTeams(
  services: Pick<Services, "tenants" | "limits">,
  tenant: string,
  atLeast: number,
): Promise<ListedTeam[]> {
  const teams: ListedTeam[] = [];
  let cursor: string | null = null;
  do {
    const page: TeamList = unwrap(
      await tenantOf(services, tenant).teams({
        metadata: {},
        lasting: true,
        order: "newest",
        limit: services.limits.max_page_size,
        ...(cursor !== null && { cursor }),
      }),
    );
    teams.push(...page.teams);
    cursor = page.next_cursor;
  } while (cursor !== null && teams.length < atLeast);
  return teams;
}
