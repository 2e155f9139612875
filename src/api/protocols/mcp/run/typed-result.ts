import type { CallToolResult } from "@modelcontextprotocol/server";
import type { RunInfo } from "../../../../contract/run.ts";
import { JsonSchema } from "../../../../core/json-schema/json-schema.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { tenantOf } from "../../../http/endpoint/services.ts";
import type { McpRequest } from "../session/services.ts";
import { TOOL_OF_RUN } from "./idempotency.ts";
import type { McpToolResult, RunOutput } from "./output.ts";
import { runResult } from "./run-result.ts";

/** A run as the result of the tool that has started it. */
export async function resultOfTool(request: McpRequest, run: RunInfo): Promise<CallToolResult> {
  const result = await runResult(request, run);
  const { [TOOL_OF_RUN]: name } = run.metadata;
  if (typeof name !== "string") return result;
  return (await typedByTool(request, run.team_id, name, result)) as CallToolResult;
}

/** A result of a run as that of the team's own tool. @param name the tool that was called: another one leaves the result as it is */
export async function typedByTool(
  { services, principal }: McpRequest,
  team: string,
  name: string,
  result: McpToolResult,
): Promise<McpToolResult> {
  const tool = await tenantOf(services, principal.tenant).tool(team);
  if (tool?.name !== name || tool.output_schema === null) return result;
  return typedResult(tool.output_schema, result);
}

/**
 * The result of a tool with a schema of its output: the JSON of the last message. A client refuses any other content that is not an
 * error, also while the run continues.
 */
export function typedResult(schema: JsonObject, result: McpToolResult): McpToolResult {
  const { structuredContent, content, ...rest } = result as CallToolResult;
  if (structuredContent === undefined) return result;
  const run = structuredContent as RunOutput;
  const about = { ...rest, content, _meta: { ...rest._meta, "troupe/run": run } };
  if (run.status !== "completed") return { ...about, isError: true };
  const value = jsonOf(run.text ?? "");
  if (value === undefined) return unfit(about, "the last message is not a JSON object");
  const faults = new JsonSchema(schema)
    .check(value)
    .map(({ path, message }) => `${path === "" ? "the object" : path} ${message}`);
  return faults.length === 0
    ? { ...about, structuredContent: value }
    : unfit(about, faults.join("; "));
}

function unfit(result: CallToolResult, why: string): CallToolResult {
  const text = `The team's answer does not fit the output schema of the tool: ${why}.`;
  return { ...result, content: [{ type: "text", text }, ...result.content], isError: true };
}

/** The JSON object of a text, also in a fenced block; undefined for none. */
function jsonOf(text: string): JsonObject | undefined {
  const trimmed = text.trim();
  const isFenced = trimmed.startsWith("```") && trimmed.endsWith("```") && trimmed.includes("\n");
  const inner = isFenced ? trimmed.slice(trimmed.indexOf("\n"), -3) : trimmed;
  try {
    const value: unknown = JSON.parse(inner);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
