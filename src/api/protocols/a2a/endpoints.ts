import type { TeamInfo } from "../../../contract/team.ts";
import { type Endpoint, endpoint } from "../../http/endpoint/endpoint.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import { writeProblem } from "./wire/errors.ts";
import { CARD_ANSWERS, type Cards, makeCards } from "./cards.ts";
import type { A2AServices } from "./request/services.ts";
import { VERSION_QUERY } from "./wire/version.ts";

/** The A2A protocol: each team is an agent. */
export function a2aEndpoints(services: A2AServices): Endpoint[] {
  const tag = "A2A" as const;
  const cards = makeCards(services);

  return [
    endpoint({
      method: "post",
      path: "/a2a/teams/:team",
      id: "a2a",
      summary: "The team as an A2A agent: a JSON-RPC request",
      tag,
      scope: "each",
      query: VERSION_QUERY,
      reads: "message",
      refusal: {
        media: "application/json",
        write: (problem, headers) => writeProblem(problem, headers),
      },
      answers: {
        200: { description: "JSON-RPC: a response, or a stream of them.", media: EVENT_STREAM },
      },
      async handle({ c, principal, team, param }) {
        const { answer } = await import("./answer.ts");
        const { origin } = new URL(c.req.url);
        const agent = { id: param("team"), team };
        return answer({ services, principal, agent, origin }, c.req.raw);
      },
    }),

    endpoint({
      method: "get",
      path: "/a2a/teams/:team/.well-known/agent-card.json",
      id: "a2aAgentCard",
      summary: "The team's agent card",
      tag,
      scope: "teams:read",
      query: VERSION_QUERY,
      answers: CARD_ANSWERS,
      problems: [404],
      handle: async ({ c, team }) =>
        cards.respond(c.req.raw, unwrap(await team.team()), "private, max-age=60"),
    }),

    ...rootCard(services, cards),
    ...cards.endpoints,
  ];
}

/** The card of A2A_TEAM is kept for this time, because it can be read without a credential. */
const VALID_MS = 60_000;

/** The card of the team that A2A_TEAM names, where agents look for one. */
function rootCard({ gateway, a2a }: A2AServices, cards: Cards): Endpoint[] {
  if (a2a.team === undefined) return [];
  const { tenant, id } = a2a.team;
  let cached: { team: TeamInfo; at: number } | undefined;
  return [
    endpoint({
      method: "get",
      path: "/.well-known/agent-card.json",
      id: "a2aRootCard",
      summary: "The agent card of the team that A2A_TEAM names",
      tag: "A2A",
      scope: null,
      query: VERSION_QUERY,
      answers: CARD_ANSWERS,
      problems: [404],
      async handle({ c }) {
        if (cached === undefined || Date.now() - cached.at > VALID_MS) {
          cached = { team: unwrap(await gateway.team(tenant, id).team()), at: Date.now() };
        }
        return cards.respond(c.req.raw, cached.team, `public, max-age=${VALID_MS / 1000}`);
      },
    }),
  ];
}
