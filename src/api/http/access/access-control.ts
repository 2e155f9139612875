import {
  type Authenticate,
  type Principal,
  type Refusal,
  unauthorized,
} from "../../auth/principal.ts";
import type { LoginSight } from "../../../contract/gateways/login-sight.ts";
import type { Answering, Gateway, StreamCaller } from "../../../contract/gateways/team-gateway.ts";
import type { Tenants } from "../../../contract/gateways/tenant-gateway.ts";
import { type Scope, SCOPES, SHARED_SCOPES } from "../../../contract/constants.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { invalid, ProblemError } from "../endpoint/problem.ts";
import type { RequestRate } from "./rate-limit.ts";

/** The caller of an endpoint without a scope. */
const ANONYMOUS: Principal = {
  id: "",
  tenant: "",
  scopes: [],
  kind: "local",
  name: null,
  expires_at: null,
};

/** The callers of requests that the Worker sends itself, which have no credentials. */
export type Callers = Pick<WeakMap<Request, Principal>, "get">;

export interface AccessControlOptions {
  authenticate: Authenticate;
  callers?: Callers;
  rate: RequestRate;
  gateway: Gateway;
  tenants: Tenants | undefined;
}

/** Decides who may send requests. */
export class AccessControl {
  readonly #options: AccessControlOptions;

  constructor(options: AccessControlOptions) {
    this.#options = options;
  }

  /**
   * The caller of a request, which counts against the limit of its tenant. A refusal is returned, not thrown: an error's
   * stack would be most of what it costs to refuse a flood.
   */
  async admit(request: Request): Promise<Principal | Refusal> {
    const caller = await this.#callerOf(request);
    if ("problem" in caller) return caller;
    const { rate } = this.#options;
    const refused = caller.kind === "local" ? undefined : await rate.take(caller.tenant);
    return refused ?? (await this.#revoked(caller)) ?? caller;
  }

  /** The caller of a request that was admitted before, whose credential may have ended since. */
  readonly again: Authenticate = (request) => this.#callerOf(request);

  /**
   * Waits until a credential is revoked that only objects know. They are not kept in memory meanwhile.
   *
   * @returns whether it was revoked, or false when the object was restarted; undefined for other credentials
   */
  revocation({ tenant, team, key }: Principal, signal: AbortSignal): Promise<boolean> | undefined {
    const { gateway, tenants } = this.#options;
    const first = new AbortController();
    const until = AbortSignal.any([signal, first.signal]);
    const ends = [
      team && gateway.team(tenant, team.id).tokenEnds(team.token, until),
      key === undefined ? undefined : tenants?.tenant(tenant).keyEnds(key, until),
    ].filter((end) => end !== undefined);
    if (ends.length === 0) return undefined;
    // A team token may also end with the key that made it. The other object is not waited for any longer.
    return Promise.race(ends).finally(() => first.abort());
  }

  /** The caller of an endpoint, which may be anybody. @throws ProblemError 403 or 422 */
  async admitTo(
    endpoint: Endpoint,
    request: Request,
    team: string | undefined,
  ): Promise<Principal | Refusal> {
    if (endpoint.scope === null) return ANONYMOUS;
    const principal = await this.admit(request);
    if ("problem" in principal) return principal;
    requireAccess(endpoint, principal);
    if (team !== undefined) requireTeam(team, principal);
    return principal;
  }

  async #callerOf(request: Request): Promise<Principal | Refusal> {
    const { authenticate, callers } = this.#options;
    return callers?.get(request) ?? authenticate(request);
  }

  /** A team token is good for the team it was made for, not for one that got its id later, until it is revoked. */
  async #revoked({ tenant, team }: Principal): Promise<Refusal | undefined> {
    if (team === undefined) return undefined;
    const revoked = await this.#options.gateway.team(tenant, team.id).isRevoked(team.token);
    return revoked ? unauthorized(true) : undefined;
  }
}

/** @throws ProblemError 403 or, for an operator who names no tenant, 422 */
function requireAccess({ scope, path, namesTeam, ofTenant }: Endpoint, principal: Principal): void {
  const { kind, tenant } = principal;
  if (scope === null || scope === "any") return;
  if (scope === "operator") {
    if (kind === "operator") return;
    throw forbidden("operator_only", "Only the operator's key may do this.");
  }
  if (ofTenant === true) requireAllTeams(principal);
  if (scope === "questions") requireQuestions(principal);
  else if (scope !== "each") requireScope(scope, principal);
  if (kind === "team" && namesTeam !== true && !path.includes("/teams/:team")) throw otherTeam();
  if (kind === "operator" && tenant === "") {
    const errors = [{ path: "Troupe-Tenant", message: "must name the tenant to act in" }];
    throw invalid("tenant_required", "The operator's key needs the header Troupe-Tenant.", errors);
  }
}

/**
 * True if these scopes include another one: a credential that may run a team may answer its questions, and one that may read
 * it may read all that is shared.
 */
export function permits(scopes: readonly Scope[], scope: Scope): boolean {
  if (scopes.includes(scope)) return true;
  if (scope === "requests:write") return scopes.includes("runs:write");
  return (SHARED_SCOPES as readonly Scope[]).includes(scope) && scopes.includes("teams:read");
}

/** True for the operator, and for the developer on an open local server: they approve in the place of each scope. */
export function hasAllApprovals({ kind }: Principal): boolean {
  return kind === "operator" || kind === "local";
}

/** True if these scopes may see open questions: those of a credential that reads runs, or one that answers. */
export function permitsQuestions(scopes: readonly Scope[]): boolean {
  return scopes.includes("runs:read") || permits(scopes, "requests:write");
}

/** @throws ProblemError 403 */
function requireQuestions(principal: Principal): void {
  if (!permitsQuestions(principal.scopes)) requireScope("runs:read", principal);
}

/** @throws ProblemError 403 */
export function requireScope(scope: Scope, { scopes }: Principal): void {
  if (permits(scopes, scope)) return;
  throw new ProblemError({
    status: 403,
    code: "missing_scope",
    detail: `This credential lacks the scope ${scope}.`,
    extra: { scope: SCOPES.filter((one) => one === scope || scopes.includes(one)).join(" ") },
  });
}

/**
 * The user of a request: the one that its credential stands for, or the one that it names.
 *
 * @param given the user that the request names
 * @throws ProblemError 403 when the credential stands for another user, or for none
 */
export function userOf({ user, kind }: Principal, given?: string): string | undefined {
  if (user === undefined) return given;
  if (given === undefined || given === user) return user ?? undefined;
  const own = user === null ? "no user" : JSON.stringify(user);
  const token = kind === "team" ? "team token" : "identity token";
  throw forbidden(
    "user_mismatch",
    `This ${token} stands for ${own}: it cannot name ${JSON.stringify(given)} as the user. Leave "user" out, or use a key.`,
  );
}

/**
 * The caller that starts a run: its user, and the name or subject of its credential.
 *
 * @param given as of {@link userOf}
 */
export function askerOf(principal: Principal, given?: string): Asker {
  return { user: userOf(principal, given), subject: principal.name ?? undefined };
}

/** The caller that answers questions. */
export function answeringOf(principal: Principal): Answering {
  const { name, user, kind, scopes } = principal;
  return {
    by: name,
    approver: {
      subject: user ?? name ?? kind,
      ...(user != null && { user }),
      scopes: [...scopes],
      ...(hasAllApprovals(principal) && { has_all_approvals: true }),
    },
  };
}

/** Both are named even where there is none, so that no protocol forgets them. */
export interface Asker {
  user: string | undefined;
  subject: string | undefined;
}

export interface CallerOptions {
  /** Aborted when the client has left. */
  signal?: AbortSignal | undefined;
  /** The user that the call names. */
  user?: string | undefined;
  /** True if the protocol is one for pages, whose servers pass on what they get to visitors. */
  isForPages?: boolean;
}

/** The client of a team, for a principal. @throws ProblemError as {@link userOf} */
export function callerOf(principal: Principal, options: CallerOptions = {}): StreamCaller {
  const { signal } = options;
  const { own_teams_of: team_user } = principal;
  const sees = sightOf(principal, options);
  return {
    credential: principal.id,
    ...(signal && { signal }),
    ...(team_user !== undefined && { team_user }),
    ...(sees && { sees }),
  };
}

/**
 * The logins whose addresses a principal may be given; undefined for none. A credential that stands for a user gets those of that user; one that may
 * speak for others those of the user that its call names. Whoever may change the tenant's teams may connect them for runs without a
 * user.
 *
 * @throws ProblemError as {@link userOf}
 */
export function sightOf(
  principal: Principal,
  { user: named, isForPages = false }: CallerOptions,
): LoginSight | undefined {
  const { scopes, kind, own_teams_of } = principal;
  const spokenFor = userOf(principal, named);
  // A link to a shared conversation has the user who made it, and is given to others.
  const isOfTenant = kind !== "team" && own_teams_of === undefined;
  const tenant = !isForPages && isOfTenant && scopes.includes("teams:write");
  const user = permitsQuestions(scopes) ? (spokenFor ?? null) : null;
  return tenant || user !== null ? { tenant, user } : undefined;
}

/** @throws ProblemError 403 when the credential is the token of another team */
export function requireTeam(id: string, { team }: Principal): void {
  if (team !== undefined && team.id !== id) throw otherTeam();
}

/**
 * To whom a new team belongs: the user that the request names, or else that of a caller who has only the teams of one user.
 *
 * @throws ProblemError as {@link userOf}
 */
export function teamUserOf(principal: Principal, given?: string): string | undefined {
  return given === undefined ? principal.own_teams_of : userOf(principal, given);
}

/** @throws ProblemError 403 for a caller who has only the teams of one user */
export function requireAllTeams({ own_teams_of }: Principal): void {
  if (own_teams_of === undefined) return;
  throw forbidden(
    "own_teams_only",
    'This caller has only its own teams: what belongs to the whole tenant needs a key, or a caller with teams: "all".',
  );
}

function otherTeam(): ProblemError {
  return forbidden("other_team", "A team token is good for its team only.");
}

function forbidden(code: string, detail: string): ProblemError {
  return new ProblemError({ status: 403, code, detail });
}
