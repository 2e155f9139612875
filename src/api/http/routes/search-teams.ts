import type { ListedTeam } from "../../../contract/directory.ts";
import {
  type FoundInTeams,
  type FoundMessages,
  type MessageSearch,
  MOST_SEARCHED_MESSAGES_EACH,
} from "../../../contract/team/found-messages.ts";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";

/** A team that has not answered after this time is left out, in milliseconds. */
const PATIENCE_MS = 3_000;

/** The messages found in one of the teams. */
interface FoundInTeam extends FoundMessages {
  team: Pick<ListedTeam, "id" | "label">;
}

/**
 * Asks teams at the same time for messages that contain a text. Of all that is found, the answer has the latest of each team
 * first, so that a team with many does not hide those of others.
 *
 * @param teams in the order of the answer
 * @param limit the most messages in the answer
 * @param gatewayOf finds a team
 */
export async function searchTeams(
  teams: readonly Pick<ListedTeam, "id" | "label">[],
  { q, limit }: { q: string; limit: number },
  gatewayOf: (team: string) => Pick<TeamGateway, "findMessages">,
): Promise<Omit<FoundInTeams, "next_cursor">> {
  // Passed on to the object as it is.
  const search: MessageSearch = { q, limit, most: MOST_SEARCHED_MESSAGES_EACH };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"unanswered">((resolve) => {
    timer = setTimeout(() => resolve("unanswered"), PATIENCE_MS);
  });
  const ask = async (
    team: (typeof teams)[number],
  ): Promise<FoundInTeam | "unanswered" | "gone"> => {
    const result = await gatewayOf(team.id).findMessages(search);
    if (result.ok) return { team, ...result.value };
    // A team that was deleted after the list was read has no messages.
    return result.problem.status === 404 ? "gone" : "unanswered";
  };
  const answers = await Promise.all(
    teams.map((team) => Promise.race([ask(team).catch(() => "unanswered" as const), late])),
  );
  clearTimeout(timer);
  const found = answers.filter((one) => typeof one === "object");
  const most = fairShare(found, limit);
  return {
    messages: found.flatMap(({ team: { id, label }, messages }) =>
      messages
        .slice(0, most(id))
        .map((message) => ({ team_id: id, team_label: label, ...message })),
    ),
    searched_teams: found.map(({ team }) => team.id),
    complete:
      !answers.includes("unanswered") &&
      found.every(
        ({ team, messages, searched_to }) =>
          searched_to === null && messages.length <= most(team.id),
      ),
  };
}

/** The number of messages of each team that fit: every team gives one, then every team another one, up to the limit. */
function fairShare(found: readonly FoundInTeam[], limit: number): (team: string) => number {
  const shares = new Map<string, number>();
  let left = limit;
  for (let round = 1; left > 0; round++) {
    const more = found.filter(({ messages }) => messages.length >= round).slice(0, left);
    if (more.length === 0) break;
    for (const { team } of more) shares.set(team.id, round);
    left -= more.length;
  }
  return (team) => shares.get(team) ?? 0;
}
