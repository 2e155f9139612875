import type { TeamInfo } from "../../../contract/team.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { type Endpoint, endpoint, json } from "../../http/endpoint/endpoint.ts";
import type { CardSignature } from "./card/card-signer.ts";
import type { A2AServices } from "./request/services.ts";
import { isVersion, LEGACY_VERSION, versionOf } from "./wire/version.ts";

const KEYS_PATH = "/a2a/jwks.json";
/** Seconds for which a response with the public key stays valid. */
const VALID_SECONDS = 3600;

export const CARD_ANSWERS = {
  200: { description: "The agent card.", media: "application/json" },
  304: { description: "The client has it: its ETag was in If-None-Match." },
};

/** Sends the agent cards of teams. */
export interface Cards {
  /**
   * Sends the card of a team, to clients of 0.3 with the fields of that version; 304 if the client has it already.
   *
   * @param keep for whom it may be kept, and how long
   */
  respond(request: Request, team: TeamInfo, keep: string): Promise<Response>;
  /** The endpoint of the key that verifies signatures; none if nothing is signed. */
  endpoints: Endpoint[];
}

/** Cards are signed where the setting A2A_CARD_KEY has a key. */
export function makeCards({ pushNotifications, a2a }: A2AServices): Cards {
  const sendWith =
    (sign: (card: object, origin: string) => Promise<CardSignature[]>): Cards["respond"] =>
    async (request, team, keep) => {
      const { origin } = new URL(request.url);
      const { agentCard, withLegacyFields } = await import("./card/agent-card.ts");
      const card = agentCard(team, { origin, pushNotifications });
      const isLegacy = isVersion(versionOf(request), LEGACY_VERSION);
      const versioned = isLegacy ? withLegacyFields(card) : card;
      // A weak one: signatures differ each time.
      const etag = `W/"${(await sha256Hex(JSON.stringify(versioned))).slice(0, 32)}"`;
      const headers = {
        etag,
        vary: "A2A-Version",
        "cache-control": keep,
        "last-modified": new Date(team.updated_at).toUTCString(),
      };
      if (isKnown(request, etag)) return new Response(null, { status: 304, headers });
      const signatures = await sign(card, origin);
      return json({ ...versioned, ...(signatures.length > 0 && { signatures }) }, 200, headers);
    };
  const key = a2a.cardKey;
  if (key === undefined) return { respond: sendWith(async () => []), endpoints: [] };
  let loaded: Promise<import("./card/card-signer.ts").CardSigner> | undefined;
  const signer = () =>
    (loaded ??= import("./card/card-signer.ts").then(({ CardSigner }) => new CardSigner(key)));
  return {
    respond: sendWith(async (card, origin) => [
      await (await signer()).sign(card, origin + KEYS_PATH),
    ]),
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

/** True if `If-None-Match` names the present answer. */
function isKnown(request: Request, etag: string): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  const etags = new Set((request.headers.get("if-none-match") ?? "").split(",").map(opaque));
  return etags.has("*") || etags.has(opaque(etag));
}
