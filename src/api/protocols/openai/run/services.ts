import type { Principal } from "../../../auth/principal.ts";
import type {
  OpenedStream,
  StartRunInput,
  TeamGateway,
} from "../../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../../contract/common.ts";
import type { FileSight } from "../../../../contract/tenant/kept-file.ts";
import { callerOf, requireTeam } from "../../../http/access/access-control.ts";
import { idempotencyOf, originOf } from "../../../http/input/call.ts";
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
  /** The user that it names. */
  user?: string | undefined;
  /** The caller's trace, which the run's continues, and its hop count. */
  origin?: Pick<StartRunInput, "trace" | "hops">;
}

/** The stream of a run that was started, or is continued with answers. */
export interface ReopenableStream {
  opened: OpenedStream;
  /** Opens its stream once more. */
  reopen: () => Promise<OpenedStream>;
}

/** A call whose body was read. @param identity a text that requests with the same key must have in common */
export async function identified(
  { services, principal, signal, raw, key }: OpenAICall,
  identity: string,
  user?: string,
): Promise<OpenAIRequest> {
  const request = { services, principal, signal, user, origin: originOf(raw) };
  if (key === undefined) return request;
  return { ...request, idempotency: await idempotencyOf(principal, key, identity) };
}

/** @throws ProblemError 403 for the token of another team */
export function teamOf(
  {
    services,
    principal,
    signal,
    user,
  }: Pick<OpenAIRequest, "services" | "principal" | "signal" | "user">,
  id: string,
): TeamGateway {
  requireTeam(id, principal);
  return services.gateway.team(principal.tenant, id, callerOf(principal, { signal, user }));
}

/** The owner whose files are the only ones that a caller finds: its team or its user, if it reaches no others. */
export function fileSight({ team, own_teams_of: user }: Principal): FileSight {
  if (team !== undefined) return `team ${team.id}`;
  return user === undefined ? undefined : `user ${user}`;
}
