import type { Principal } from "../../../auth/principal.ts";
import type { StartRunInput, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../../contract/common.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { requireTeam } from "../../../http/access/admission.ts";
import type { JsonBody } from "../../../http/input/body.ts";
import { traceOf } from "../../../http/call.ts";
import type { ProtocolServices } from "../../shared/services.ts";

/** A call of the OpenAI API, with a body that may be unread. */
export interface OpenAICall {
  services: ProtocolServices;
  principal: Principal;
  /** Aborted when the client has left. */
  signal: AbortSignal;
  raw: Request;
  /** `Idempotency-Key`. */
  key: string | undefined;
}

/** One request to the OpenAI API. */
export interface OpenAIRequest {
  services: ProtocolServices;
  principal: Principal;
  /** Aborted when the client has left. */
  signal: AbortSignal;
  idempotency?: Idempotency;
  /** The caller's trace, which the run's continues. */
  trace?: NonNullable<StartRunInput["trace"]>;
}

/** A call whose body was read: the same key is good for the same body. */
export async function identified(
  { services, principal, signal, raw, key }: OpenAICall,
  { bytes }: JsonBody,
): Promise<OpenAIRequest> {
  const request = { services, principal, signal, ...traceOf(raw) };
  if (key === undefined) return request;
  return { ...request, idempotency: { key, hash: await sha256Hex(bytes) } };
}

/** @throws ProblemError 403 for the token of another team */
export function teamOf(
  { services, principal, signal }: Pick<OpenAIRequest, "services" | "principal" | "signal">,
  id: string,
): TeamGateway {
  requireTeam(id, principal);
  return services.gateway.team(principal.tenant, id, { credential: principal.id, signal });
}
