import type { Endpoint } from "../../http/endpoint/endpoint.ts";
import { endpoint } from "../../http/endpoint/endpoint.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import type { Principal } from "../../auth/principal.ts";
import type { McpServices } from "./session/services.ts";
import { type McpSettings, offeredTemplates } from "./tools/offered-templates.ts";

const JSON_RPC = "application/json";

/** The Model Context Protocol over Streamable HTTP: a tenant's teams as tools, or one team. */
export function mcpEndpoints(all: McpServices & { mcp: McpSettings }): Endpoint[] {
  const services: McpServices = {
    ...all,
    templates: async () => offeredTemplates(all.mcp, await all.templates()),
  };
  const answered = async (
    request: Request,
    principal: Principal,
    team?: string,
  ): Promise<Response> => {
    const { answer } = await import("./answer.ts");
    return answer(services, request, principal, team);
  };
  const opened = async (
    request: Request,
    principal: Principal,
    team?: string,
  ): Promise<Response> => {
    const { openStream } = await import("./open-stream.ts");
    return openStream(services, request, principal, team);
  };
  const opens = {
    method: "get" as const,
    tag: "MCP" as const,
    scope: "each" as const,
    answers: {
      200: { description: "What follows in the stream of a call.", media: EVENT_STREAM },
      400: { description: "No id of an event of this server.", media: JSON_RPC },
    },
    problems: [404, 405],
  };
  const common = {
    method: "post" as const,
    tag: "MCP" as const,
    scope: "each" as const,
    reads: "message" as const,
    answers: {
      200: { description: "JSON-RPC responses, as JSON or as a stream.", media: EVENT_STREAM },
      202: { description: "A notification or a response was taken." },
      400: { description: "No message of the protocol: a JSON-RPC error.", media: JSON_RPC },
      406: { description: "Accept lacks a type: a JSON-RPC error.", media: JSON_RPC },
    },
    problems: [404],
  };

  return [
    endpoint({
      ...common,
      path: "/mcp",
      id: "mcp",
      summary: "The tenant's teams as an MCP server: a JSON-RPC message",
      handle: ({ c, principal }) => answered(c.req.raw, principal),
    }),

    endpoint({
      ...opens,
      path: "/mcp",
      id: "mcpStream",
      summary: "The stream of a session; with Last-Event-ID the rest of a call's stream",
      handle: ({ c, principal }) => opened(c.req.raw, principal),
    }),

    endpoint({
      ...opens,
      path: "/mcp/teams/:team",
      id: "teamMcpStream",
      summary:
        "The stream of a session with a team; with Last-Event-ID the rest of a call's stream",
      handle: ({ c, principal, param }) => opened(c.req.raw, principal, param("team")),
    }),

    endpoint({
      ...common,
      path: "/mcp/teams/:team",
      id: "teamMcp",
      summary: "One team as an MCP server: a JSON-RPC message",
      handle: ({ c, principal, param }) => answered(c.req.raw, principal, param("team")),
    }),
  ];
}
