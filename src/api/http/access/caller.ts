import type { StreamCaller } from "../../../contract/gateways/team-gateway.ts";
import type { TenantGateway } from "../../../contract/gateways/tenant-gateway.ts";
import type { LoginSight } from "../../../contract/gateways/login-sight.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Services, tenantOf } from "../endpoint/services.ts";
import { permits } from "./access-control.ts";

export interface CallerOptions {
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined;
  /** The user that the call names, checked (`userOf`). */
  user?: string | undefined;
  /** True if the protocol is one for pages, whose servers pass on what they get to visitors. */
  isForPages?: boolean;
}

/** The client of a team, for a principal. */
export function callerOf(principal: Principal, options: CallerOptions = {}): StreamCaller {
  const { signal } = options;
  const { own_teams_of: team_user } = principal;
  return {
    credential: principal.id,
    ...(signal && { signal }),
    ...(team_user !== undefined && { team_user }),
    sees: sightOf(principal, options),
  };
}

/**
 * The logins whose addresses a principal may be given. A credential that stands for a user gets those of that user; one that may
 * speak for others those of the user that its call names. Whoever may change the tenant's teams may connect them for runs without a
 * user.
 */
export function sightOf(
  {
    scopes,
    kind,
    user,
    own_teams_of,
  }: Pick<Principal, "scopes" | "kind" | "user" | "own_teams_of">,
  { user: named, isForPages = false }: CallerOptions = {},
): LoginSight {
  // A link to a shared conversation has the user who made it, and is given to others.
  const mayFollow = scopes.includes("runs:read") || permits(scopes, "requests:write");
  const own = user === undefined ? named : user;
  const isOfTenant = kind !== "team" && own_teams_of === undefined;
  return {
    tenant: !isForPages && isOfTenant && scopes.includes("teams:write"),
    user: mayFollow ? (own ?? null) : null,
  };
}

/** The lists over the teams of a tenant, or over those that a principal may reach. */
export type TenantLists = Pick<
  TenantGateway,
  "teams" | "runs" | "failures" | "requests" | "usageReport" | "events"
>;

/** @throws ProblemError 503 without the binding TENANT */
export function listsOf(services: Pick<Services, "tenants">, principal: Principal): TenantLists {
  const tenant = tenantOf(services, principal.tenant);
  const { own_teams_of: team_user } = principal;
  if (team_user === undefined) return tenant;
  return {
    teams: (query) => tenant.teams({ ...query, team_user }),
    runs: (query) => tenant.runs({ ...query, team_user }),
    failures: (query) => tenant.failures({ ...query, team_user }),
    requests: (query, sight) => tenant.requests({ ...query, team_user }, sight),
    usageReport: (query) => tenant.usageReport({ ...query, team_user }),
    events: (after, runs, caller) => tenant.events(after, runs, { ...caller, team_user }),
  };
}
