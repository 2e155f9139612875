import type { Principal } from "../../../auth/principal.ts";
import type { Idempotency, TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import { sha256Hex } from "../../../core/sha256.ts";
import type { JsonBody } from "../../../http/input/body.ts";
import type { ProtocolServices } from "../../services.ts";

/** A call of the OpenAI API, with a body that may be unread. */
export interface OpenAICall {
  services: ProtocolServices;
  principal: Principal;
  raw: Request;
  /** `Idempotency-Key`. */
  key: string | undefined;
}

/** One request to the OpenAI API. */
export interface OpenAIRequest {
  services: ProtocolServices;
  principal: Principal;
  idempotency?: Idempotency;
}

/** A call whose body was read: the same key is good for the same body. */
export async function identified(
  { services, principal, key }: OpenAICall,
  { bytes }: JsonBody,
): Promise<OpenAIRequest> {
  if (key === undefined) return { services, principal };
  return { services, principal, idempotency: { key, hash: await sha256Hex(bytes) } };
}

export function teamOf(
  { services, principal }: Pick<OpenAIRequest, "services" | "principal">,
  id: string,
): TeamGateway {
  return services.gateway.team(principal.tenant, id);
}
