import type { Tool } from "@modelcontextprotocol/server";
import type { ToolOfTeam } from "../../../../contract/gateways/tenant-gateway.ts";
import { withDefaults } from "../../../../core/json-schema/arrange.ts";
import { JsonSchema } from "../../../../core/json-schema/json-schema.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { parsePlaceholders, renderPlaceholders } from "../../../../core/text/placeholders.ts";
import { invalid } from "../../../http/endpoint/problem.ts";
import { tenantOf } from "../../../http/endpoint/services.ts";
import { TOOL_OF_RUN } from "../run/idempotency.ts";
import { runTeam } from "../run/run-team.ts";
import { takesTasks } from "../run/task.ts";
import { typedResult } from "../run/typed-result.ts";
import type { McpToolCall } from "../run/wait-for-run.ts";
import type { McpToolResult } from "../run/output.ts";
import { defaultWait } from "../run/tool-inputs.ts";
import { type McpRequest, teamOf } from "../session/services.ts";

/** A page of the own tools that the caller's teams have, by name, and the name after which the next page begins. */
export async function ownTools(
  { services, principal }: McpRequest,
  after: string,
  limit: number,
): Promise<{ tools: ToolOfTeam[]; next: string | undefined }> {
  const { own_teams_of: team_user } = principal;
  const found = await tenantOf(services, principal.tenant).tools({
    after,
    limit: limit + 1,
    ...(team_user !== undefined && { team_user }),
  });
  const tools = found.slice(0, limit);
  return { tools, next: found.length > limit ? tools.at(-1)?.tool.name : undefined };
}

/** The team whose own tool has this name; undefined for none that the caller may reach. */
export async function ownToolNamed(
  request: McpRequest,
  name: string,
): Promise<ToolOfTeam | undefined> {
  const { services, principal } = request;
  const found = await tenantOf(services, principal.tenant).toolNamed(name);
  if (found === null) return undefined;
  return (await teamOf(request, found.team).creation()).ok ? found : undefined;
}

/** An own tool as tools/list shows it. */
export function shownTool({ team, tool }: ToolOfTeam): Tool {
  const { name, description, input_schema, output_schema } = tool;
  return {
    name,
    description,
    inputSchema: input_schema as Tool["inputSchema"],
    ...(output_schema !== null && {
      outputSchema: output_schema,
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    _meta: { "troupe/team-id": team },
  };
}

/**
 * Runs a team by its own tool: with the task that its template makes of the arguments.
 *
 * @throws ProblemError 422 that names the argument that does not fit
 */
export async function runOwnTool(
  call: McpToolCall,
  { team, tool }: ToolOfTeam,
  args: JsonObject,
): Promise<McpToolResult> {
  const schema = new JsonSchema(tool.input_schema);
  const issues = schema.check(args);
  if (issues.length > 0) throw invalid("invalid_arguments", "The arguments are invalid.", issues);
  const task = renderPlaceholders(parsePlaceholders(tool.task), withDefaults(args, schema));
  if (task.trim() === "") {
    const message = "must make a task that is not empty";
    throw invalid("invalid_arguments", "The arguments make an empty task.", [
      { path: "", message },
    ]);
  }
  const { max_wait_seconds } = call.request.services.limits;
  const wait_seconds = takesTasks(call.server) ? 0 : defaultWait(max_wait_seconds);
  const metadata = { [TOOL_OF_RUN]: tool.name };
  const result = await runTeam(
    { ...call, tool: tool.name },
    team,
    { task, wait_seconds },
    { metadata },
  );
  return tool.output_schema === null ? result : typedResult(tool.output_schema, result);
}
