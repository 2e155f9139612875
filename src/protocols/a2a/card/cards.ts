import type { TeamInfo } from "../../../contract/team.ts";
import { type Endpoint, endpoint, json } from "../../../http/endpoint.ts";
import type { A2AServices } from "../request/services.ts";

const KEYS_PATH = "/a2a/jwks.json";
/** Of the public key. */
const VALID_SECONDS = 3600;

/** Makes the agent cards of teams. */
export interface Cards {
  /** @param origin of the request that asks for it */
  cardOf(team: TeamInfo, origin: string): Promise<object>;
  /** Where those who verify signatures find the key; none where nothing is signed. */
  endpoints: Endpoint[];
}

/** Cards are signed where the setting A2A_CARD_KEY has a key. */
export function makeCards({ pushNotifications, a2a }: A2AServices): Cards {
  const unsigned = async (team: TeamInfo, origin: string): Promise<object> => {
    const { agentCard } = await import("./agent-card.ts");
    return agentCard(team, { origin, pushNotifications });
  };
  const key = a2a.cardKey;
  if (key === undefined) return { cardOf: unsigned, endpoints: [] };
  let loaded: Promise<import("./card-signer.ts").CardSigner> | undefined;
  const signer = () =>
    (loaded ??= import("./card-signer.ts").then(({ CardSigner }) => new CardSigner(key)));
  return {
    async cardOf(team, origin) {
      const card = await unsigned(team, origin);
      const signature = await (await signer()).sign(card, origin + KEYS_PATH);
      return { ...card, signatures: [signature] };
    },
    endpoints: [
      endpoint({
        method: "get",
        path: KEYS_PATH,
        id: "a2aCardKeys",
        summary: "The public key that agent cards are signed with, as a JWK set",
        tag: "A2A",
        scope: null,
        answers: { 200: { description: "The JWK set.", media: "application/json" } },
        async handle() {
          const keys = [await (await signer()).publicKey()];
          return json({ keys }, 200, { "cache-control": `public, max-age=${VALID_SECONDS}` });
        },
      }),
    ],
  };
}
