import type { WhoAmI } from "troupe/client";

type Caller = Pick<WhoAmI, "scopes" | "team_id">;

/** The lists over all teams that a credential may see. A team token sees none. */
export function pagesOf({
  scopes,
  team_id,
}: Caller): Readonly<
  Record<
    "teams" | "inbox" | "runs" | "usage" | "memory" | "webhooks" | "connections" | "keys",
    boolean
  >
> {
  const may = (...needed: WhoAmI["scopes"]): boolean =>
    team_id === null && needed.every((scope) => scopes.includes(scope));
  return {
    teams: may("teams:read"),
    inbox: may("teams:read", "runs:read") || may("requests:write") || may("runs:write"),
    runs: may("runs:read"),
    usage: may("usage:read"),
    memory: may("teams:read"),
    webhooks: may("teams:read"),
    connections: may("teams:read"),
    keys: may("keys:write"),
  };
}

/** The first page that a credential may see. */
export function firstPageOf(caller: Caller): string {
  if (caller.team_id !== null) return `/teams/${caller.team_id}`;
  const { teams, inbox, runs, usage, keys } = pagesOf(caller);
  if (teams) return "/";
  if (inbox) return "/inbox";
  return runs ? "/runs" : usage ? "/usage" : keys ? "/keys" : "/";
}
