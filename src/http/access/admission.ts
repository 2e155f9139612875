import {
  type Authenticate,
  type Principal,
  type Refusal,
  unauthorized,
} from "../../auth/principal.ts";
import type { Gateway } from "../../contract/gateways/team-gateway.ts";
import type { Scope } from "../../contract/constants.ts";
import type { Endpoint } from "../endpoint.ts";
import { invalid, ProblemError } from "../problem.ts";
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

/** Decides who may send requests. */
export class Admission {
  readonly #authenticate: Authenticate;
  readonly #rate: RequestRate;
  readonly #gateway: Gateway;

  constructor(authenticate: Authenticate, rate: RequestRate, gateway: Gateway) {
    this.#authenticate = authenticate;
    this.#rate = rate;
    this.#gateway = gateway;
  }

  /**
   * The caller of a request, which counts against the limit of its tenant. A refusal is returned, not thrown: an error's
   * stack would be most of what it costs to refuse a flood.
   */
  async admit(request: Request): Promise<Principal | Refusal> {
    const caller = await this.#authenticate(request);
    if ("problem" in caller) return caller;
    const refused = caller.kind === "local" ? undefined : await this.#rate.take(caller.tenant);
    return refused ?? (await this.#revoked(caller)) ?? caller;
  }

  /** The caller of a request that was admitted before, whose credential may have ended since. */
  readonly again: Authenticate = async (request) => {
    const caller = await this.#authenticate(request);
    return "problem" in caller ? caller : ((await this.#revoked(caller)) ?? caller);
  };

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

  /** A team token is good for the team it was made for, not for one that got its id later, until it is revoked. */
  async #revoked({ tenant, team }: Principal): Promise<Refusal | undefined> {
    if (team === undefined) return undefined;
    const revoked = await this.#gateway.team(tenant, team.id).isRevoked(team.token);
    return revoked ? unauthorized(true) : undefined;
  }
}

/** @throws ProblemError 403 or, for an operator who names no tenant, 422 */
function requireAccess({ scope, path, namesTeam }: Endpoint, principal: Principal): void {
  const { kind, tenant } = principal;
  if (scope === null || scope === "any") return;
  if (scope === "operator") {
    if (kind === "operator") return;
    throw forbidden("operator_only", "Only the operator's key may do this.");
  }
  if (scope !== "each") requireScope(scope, principal);
  if (kind === "team" && namesTeam !== true && !path.includes("/teams/:team")) throw otherTeam();
  if (kind === "operator" && tenant === "") {
    const errors = [{ path: "Troupe-Tenant", message: "must name the tenant to act in" }];
    throw invalid("tenant_required", "The operator's key needs the header Troupe-Tenant.", errors);
  }
}

/** @throws ProblemError 403 */
export function requireScope(scope: Scope, { scopes }: Principal): void {
  // Callers that may run a team may answer its questions.
  const answers = scope === "requests:write" && scopes.includes("runs:write");
  if (answers || scopes.includes(scope)) return;
  throw forbidden("missing_scope", `This credential lacks the scope ${scope}.`);
}

/** @throws ProblemError 403 when the credential is the token of another team */
export function requireTeam(id: string, { team }: Principal): void {
  if (team !== undefined && team.id !== id) throw otherTeam();
}

function otherTeam(): ProblemError {
  return forbidden("other_team", "A team token is good for its team only.");
}

function forbidden(code: string, detail: string): ProblemError {
  return new ProblemError({ status: 403, code, detail });
}
