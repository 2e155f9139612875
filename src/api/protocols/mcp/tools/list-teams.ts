import type { CallToolResult } from "@modelcontextprotocol/server";
import type * as z from "zod";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { listsOf } from "../../../http/endpoint/services.ts";
import { type LIST_TEAMS, RUN_TEAM, RUN_TEMPLATE } from "../session/access.ts";
import type { McpRequest } from "../session/services.ts";
import { describedTeam, offeredTools } from "./offered-tools.ts";
import type { teamsOutputSchema, ToolInputs } from "../run/tool-inputs.ts";

/** A page of the teams with the tools that run them, and on the first page the templates. @throws ProblemError */
export async function listTeams(
  request: McpRequest,
  { q, cursor }: z.output<ToolInputs[typeof LIST_TEAMS]>,
): Promise<CallToolResult> {
  const { services, principal } = request;
  const page = unwrap(
    await listsOf(services, principal).teams({
      metadata: {},
      lasting: true,
      order: "newest",
      limit: Math.min(50, services.limits.max_page_size),
      ...(q !== undefined && { q }),
      ...(cursor !== undefined && { cursor }),
    }),
  );
  const names = namesOf(await offeredTools(request));
  const teams = await Promise.all(
    page.teams.map(async (team) => ({
      id: team.id,
      label: team.label,
      description: team.tool?.description ?? (await describedTeam(request, team)),
      status: team.status,
      tool: team.tool?.name ?? names.teams.get(team.id) ?? RUN_TEAM,
    })),
  );
  const text = q?.toLowerCase() ?? "";
  const templates = cursor === undefined ? await services.templates() : [];
  const output: z.output<typeof teamsOutputSchema> = {
    teams,
    templates: templates
      .filter(({ name }) => name.toLowerCase().includes(text))
      .map(({ name, description }) => ({
        name,
        description,
        tool: names.templates.get(name) ?? RUN_TEMPLATE,
      })),
    next_cursor: page.next_cursor,
  };
  return {
    content: [{ type: "text", text: JSON.stringify(output) }],
    structuredContent: output,
  };
}

/** The names of the tools by the ids of teams and the names of templates. */
function namesOf(offered: Awaited<ReturnType<typeof offeredTools>>) {
  const teams = new Map<string, string>();
  const templates = new Map<string, string>();
  for (const [name, tool] of offered ?? []) {
    if ("team" in tool) teams.set(tool.team.id, name);
    else templates.set(tool.template.name, name);
  }
  return { teams, templates };
}
