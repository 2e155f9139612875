import { type Authenticate, type Principal, unauthorized } from "../auth/principal.ts";
import type { Gateway } from "../contract/gateway.ts";
import type { Endpoint } from "./endpoint.ts";
import { invalid, ProblemError } from "./problem.ts";
import type { RequestRate } from "./rate-limit.ts";

/** The caller of an endpoint without a scope. */
const ANONYMOUS: Principal = {
  tenant: "",
  scopes: [],
  kind: "local",
  name: null,
  expires_at: null,
};

/**
 * The caller of a request, which counts against the limit of its tenant.
 *
 * @throws ProblemError with the refusal, or 429
 */
export async function admit(
  authenticate: Authenticate,
  rate: RequestRate,
  request: Request,
): Promise<Principal> {
  const answer = await authenticate(request);
  if ("problem" in answer) throw new ProblemError(answer.problem, answer.headers);
  if (answer.kind !== "local") await rate.take(answer.tenant);
  return answer;
}

/** The caller of an endpoint, which may be anybody. @throws ProblemError with the refusal, or 429 */
export async function admitTo(
  { scope }: Endpoint,
  authenticate: Authenticate,
  rate: RequestRate,
  request: Request,
): Promise<Principal> {
  return scope === null ? ANONYMOUS : admit(authenticate, rate, request);
}

/** @throws ProblemError 403 or, for an operator who names no tenant, 422 */
export function requireScope({ scope, path }: Endpoint, principal: Principal): void {
  const { scopes, kind, tenant } = principal;
  if (scope === null || scope === "any") return;
  if (scope === "operator") {
    if (kind === "operator") return;
    throw forbidden("operator_only", "Only the operator's key may do this.");
  }
  // Callers that may run a team may answer its questions.
  const answers = scope === "requests:write" && scopes.includes("runs:write");
  if (!answers && !scopes.includes(scope)) {
    throw forbidden("missing_scope", `This credential lacks the scope ${scope}.`);
  }
  if (kind === "team" && !path.startsWith("/v1/teams/:team")) throw otherTeam();
  if (kind === "operator" && tenant === "") {
    const errors = [{ path: "Troupe-Tenant", message: "must name the tenant to act in" }];
    throw invalid("tenant_required", "The operator's key needs the header Troupe-Tenant.", errors);
  }
}

/**
 * A team token is good for the team it was made for, not for another one, nor for one that got its id later.
 *
 * @param named the team in the path; undefined when the path has none
 * @throws ProblemError 401 or 403
 */
export async function requireOwnTeam(
  { tenant, team }: Principal,
  named: string | undefined,
  gateway: Gateway,
): Promise<void> {
  if (team === undefined) return;
  if (named !== undefined && named !== team.id) throw otherTeam();
  const creation = await gateway.team(tenant, team.id).creation();
  if (creation.ok && creation.value === team.creation) return;
  const { problem, headers } = unauthorized(true);
  throw new ProblemError(problem, headers);
}

function otherTeam(): ProblemError {
  return forbidden("other_team", "A team token is good for its team only.");
}

function forbidden(code: string, detail: string): ProblemError {
  return new ProblemError({ status: 403, code, detail });
}
