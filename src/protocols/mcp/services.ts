import type { Principal } from "../../auth/principal.ts";
import type { TeamGateway } from "../../contract/gateways/team-gateway.ts";
import type { TeamInfo } from "../../contract/team.ts";
import type { ProtocolServices } from "../services.ts";

/** What the MCP server uses. */
export type McpServices = Pick<
  ProtocolServices,
  "gateway" | "tenants" | "templates" | "limits" | "version" | "log"
>;

/** One request to the MCP server. */
export interface McpRequest {
  services: McpServices;
  principal: Principal;
  /** At the address of one team: that team. */
  only: TeamInfo | undefined;
  /** Of the revisions with sessions. */
  session: McpSession | undefined;
  /** `Idempotency-Key`. */
  idempotencyKey: string | undefined;
}

/** What a client said when it began a session: all of it is in the session's id. */
export interface McpSession {
  id: string;
  /** Whether the client can show forms. */
  forms: boolean;
}

export function teamOf({ services, principal }: McpRequest, id: string): TeamGateway {
  return services.gateway.team(principal.tenant, id, { credential: principal.id });
}
