import type { Scope } from "../../contract/constants.ts";
import type { TokenOfTeam } from "../../contract/gateways/team-gateway.ts";
import type { Problem } from "../../contract/problem.ts";

export type CredentialKind = "local" | "static" | "operator" | "created" | "identity" | "team";

/** The authenticated caller of a request and its permissions. */
export interface Principal {
  /** Distinguishes callers of a tenant: the same credential, or the same subject, has the same id. It is never shown. */
  id: string;
  tenant: string;
  /** The claim of an identity token that the tenant's id was made from, as a label. */
  tenant_label?: string;
  scopes: readonly Scope[];
  kind: CredentialKind;
  /** The name of the key, or the subject of the identity token. */
  name: string | null;
  /** ISO 8601 UTC. */
  expires_at: string | null;
  /**
   * The user that it stands for: the subject of an identity token, or the user for whom a team token was made. Null for
   * such a token without one; undefined for credentials that may name any user.
   */
  user?: string | null;
  /** The user whose teams are the only ones that it reaches; undefined for all teams of the tenant. */
  own_teams_of?: string;
  /** The id of a created key, or of the one with which a team token ends. */
  key?: string;
  /** The only team a team token is good for. */
  team?: { id: string; token: TokenOfTeam };
  /** The paths that an identity token is good for, with all below them, when its audience is a part of the service. */
  paths?: readonly string[];
}

/** The caller that changes something, as it is shown to others. */
export function authorOf({ name, user, kind }: Principal): string {
  return name ?? user ?? kind;
}

/** Authenticates a request, or says why it is refused. */
export type Authenticate = (request: Request) => Promise<Principal | Refusal>;

export interface Refusal {
  problem: Problem;
  headers?: Readonly<Record<string, string>>;
}

export function isTenantId(value: string): boolean {
  return /^[a-z0-9-]{1,63}$/.test(value);
}

/**
 * The one answer to a missing, unknown, wrong, expired or revoked credential: it must not reveal which.
 */
export function unauthorized(given: boolean): Refusal {
  return {
    problem: {
      status: 401,
      code: given ? "invalid_credentials" : "missing_credentials",
      detail: given
        ? "The credential is not valid: it is unknown, has expired or was revoked."
        : "Send a key or a token: Authorization: Bearer <key>.",
    },
  };
}

/** Names the tenant in which an operator acts, or the developer on an open local server. */
export const TENANT_HEADER = "troupe-tenant";

/** The refusal of a tenant that {@link TENANT_HEADER} cannot name. */
export function invalidTenant(): Refusal {
  return {
    problem: {
      status: 422,
      code: "invalid_tenant",
      detail: "Troupe-Tenant must be 1 to 63 lower-case letters, digits and hyphens.",
      errors: [{ path: "Troupe-Tenant", message: "must match [a-z0-9-]{1,63}" }],
    },
  };
}
