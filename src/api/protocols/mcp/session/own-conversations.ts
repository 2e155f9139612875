import type { Principal } from "../../../auth/principal.ts";
import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import { teamNotFound } from "../../../../contract/result.ts";
import { toBase64Url } from "../../../../core/base64.ts";

// The id of a conversation says whose it is, so that no request has to ask its team: it is a hash that names the conversation, and
// a hash of that one with the caller.

const CONVERSATION = /^mcp-([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{22})$/;
const HALF_BYTES = 16;

/** True for the id of a team in which a caller speaks with a template. */
export function isConversation(id: string): boolean {
  return CONVERSATION.test(id);
}

/** The id of the conversation of a caller with a template that a text names. Other callers have other conversations. */
export async function conversationOf(
  principal: Principal,
  template: string,
  name: string,
): Promise<string> {
  const start = await half(principal, ["start", template, name]);
  return `mcp-${start}${await half(principal, ["owner", start])}`;
}

/** The team of a conversation, for a caller: those of others answer each call as a team that does not exist. */
export function ownConversation(team: TeamGateway, id: string, principal: Principal): TeamGateway {
  const [, start = "", proof] = CONVERSATION.exec(id) ?? [];
  return new Proxy(team, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]): Promise<unknown> =>
        (await half(principal, ["owner", start])) === proof
          ? Reflect.apply(method, target, args)
          : teamNotFound();
    },
  });
}

async function half(
  { tenant, id, own_teams_of, user }: Principal,
  named: readonly string[],
): Promise<string> {
  const caller = [tenant, id, own_teams_of ?? user ?? null];
  const bytes = new TextEncoder().encode(JSON.stringify([...caller, ...named]));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return toBase64Url(new Uint8Array(digest).subarray(0, HALF_BYTES));
}
