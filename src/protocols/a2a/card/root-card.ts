import type { TeamInfo } from "../../../contract/team.ts";
import { type Endpoint, endpoint, json } from "../../../http/endpoint.ts";
import { unwrap } from "../../../http/problem.ts";
import type { A2AServices } from "../request/services.ts";
import type { Cards } from "./cards.ts";

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
      answers: { 200: { description: "The agent card.", media: "application/json" } },
      problems: [404],
      async handle({ c }) {
        if (known === undefined || Date.now() - known.at > VALID_MS) {
          known = { team: unwrap(await gateway.team(tenant, id).team()), at: Date.now() };
        }
        const card = await cards.cardOf(known.team, new URL(c.req.url).origin);
        return json(card, 200, { "cache-control": `public, max-age=${VALID_MS / 1000}` });
      },
    }),
  ];
}
