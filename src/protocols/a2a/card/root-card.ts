import type { TeamInfo } from "../../../contract/team.ts";
import { type Endpoint, endpoint } from "../../../http/endpoint.ts";
import { unwrap } from "../../../http/problem.ts";
import type { A2AServices } from "../request/services.ts";
import { CARD_ANSWERS, type Cards } from "./cards.ts";

/** How long a card is remembered: anybody may ask for it. */
const VALID_MS = 60_000;

/** The card of the team that A2A_TEAM names, where agents look for one. */
export function rootCard({ gateway, a2a }: A2AServices, cards: Cards): Endpoint[] {
  if (a2a.team === undefined) return [];
  const { tenant, id } = a2a.team;
  let known: { team: TeamInfo; at: number } | undefined;
  return [
    endpoint({
      method: "get",
      path: "/.well-known/agent-card.json",
      id: "a2aRootCard",
      summary: "The agent card of the team that A2A_TEAM names",
      tag: "A2A",
      scope: null,
      answers: CARD_ANSWERS,
      problems: [404],
      async handle({ c }) {
        if (known === undefined || Date.now() - known.at > VALID_MS) {
          known = { team: unwrap(await gateway.team(tenant, id).team()), at: Date.now() };
        }
        return cards.respond(c.req.raw, known.team, `public, max-age=${VALID_MS / 1000}`);
      },
    }),
  ];
}
