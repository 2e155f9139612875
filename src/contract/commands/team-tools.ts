import { putTeamToolSchema, teamToolSchema } from "../team-tool.ts";
import { command } from "./command.ts";

/** The own tool that a team has for clients of MCP. */
export const teamToolCommands = {
  putTool: command({
    method: "put",
    path: "/v1/teams/:team/tool",
    summary: "Set the own tool of a team for clients of MCP: a name, a description and schemas",
    tag: "MCP",
    scope: "teams:write",
    body: putTeamToolSchema,
    answers: { 200: { description: "The tool.", schema: { TeamTool: teamToolSchema } } },
    problems: [404, 409],
  }),

  tool: command({
    method: "get",
    path: "/v1/teams/:team/tool",
    id: "getTool",
    summary: "The own tool of a team",
    tag: "MCP",
    scope: "teams:read",
    answers: { 200: { description: "The tool.", schema: { TeamTool: teamToolSchema } } },
    problems: [404],
  }),

  deleteTool: command({
    method: "delete",
    path: "/v1/teams/:team/tool",
    summary: "Delete the own tool of a team, which is run_{label} from then on",
    tag: "MCP",
    scope: "teams:write",
    answers: { 204: { description: "It is deleted." } },
    problems: [404],
  }),
};
