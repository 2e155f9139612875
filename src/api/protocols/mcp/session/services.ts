import type { Principal } from "../../../auth/principal.ts";
import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { TeamInfo } from "../../../../contract/team.ts";
import type { CpuBudget } from "./follow-run.ts";
import type { CallPlace, CallStream } from "./call-stream.ts";
import { callerOf } from "../../../http/access/access-control.ts";
import type { ProtocolServices } from "../../shared/services.ts";
import { isConversation, ownConversation } from "./own-conversations.ts";

/** `templates` are those that are offered. */
export interface McpServices extends Omit<ProtocolServices, "pushNotifications"> {
  /** The page that shows a run, if the service has its file. */
  runView?: (() => Promise<string | undefined>) | undefined;
}

/** One request to the MCP server. */
export interface McpRequest {
  services: McpServices;
  principal: Principal;
  /** The revision of the protocol; empty where the client does not say, as in the first ones. */
  version: string;
  /** At the address of one team: that team. */
  only: TeamInfo | undefined;
  /** The session, in the revisions of the protocol that have sessions. */
  session: ClientSession | undefined;
  /** The CPU time that it may use for streams. */
  budget: CpuBudget;
  /** The headers of the request. They are empty where a stream is continued, because that request is not the call. */
  headers: Headers;
  /** The stream of a call that its client can continue, in the revisions with sessions. */
  stream?: CallStream;
  /** The place at which the client comes back. */
  resumes?: CallPlace;
}

/** The client's data at the beginning of a session. The session's id holds all of it. */
export interface ClientSession {
  id: string;
  /** True if the client can show forms. */
  forms: boolean;
  /** True if the client shows pages of the server. */
  pages: boolean;
}

/** A team that the caller may reach: of the conversations with templates, its own ones. */
export function teamOf(
  { services, principal }: Pick<McpRequest, "services" | "principal">,
  id: string,
): TeamGateway {
  const team = services.gateway.team(principal.tenant, id, callerOf(principal));
  return isConversation(id) ? ownConversation(team, id, principal) : team;
}
