import type { Principal } from "../../../auth/principal.ts";
import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { Scope } from "../../../../contract/constants.ts";
import { requireScope } from "../../../http/access/access-control.ts";
import type { MessageServices } from "../../../http/endpoint/services.ts";
import type { ProtocolServices } from "../../shared/services.ts";
import type { A2AFormat } from "../encoder/format.ts";
import type { A2ASettings } from "../card/settings.ts";
import type { RpcId } from "../wire/wire.ts";

export type A2AServices = Pick<
  ProtocolServices,
  "gateway" | "tenants" | "checkWebhookUrl" | "pushNotifications"
> &
  MessageServices & { a2a: A2ASettings };

/** One request to the agent that a team is. */
export interface A2ARequest {
  services: A2AServices;
  principal: Principal;
  /** The team that is addressed. */
  agent: { id: string; team: TeamGateway };
  /** The scheme and host of the request's URL. */
  origin: string;
  headers: Headers;
  /** Aborted when the client has left. */
  signal: AbortSignal;
  id: RpcId;
  /** The format of its stream and its push notifications. */
  format: A2AFormat;
}

/** @throws ProblemError 403 */
export function needs({ principal }: A2ARequest, scope: Scope): void {
  requireScope(scope, principal);
}

/** True if the caller may see the messages of a run whose questions it may answer. */
export function mayRead({ principal: { scopes } }: A2ARequest): boolean {
  return scopes.includes("runs:read") || scopes.includes("runs:write");
}
