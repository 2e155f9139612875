import type { Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { idSchema } from "../../../../contract/common.ts";
import type { TeamInfo } from "../../../../contract/team.ts";
import { invalid } from "../../../http/endpoint/problem.ts";
import { ANSWER_REQUEST, GET_RUN, LIST_TEAMS, scopeOfTool, STOP_RUN } from "../session/access.ts";
import { runOutputSchema } from "./output.ts";
import type { McpRequest } from "../session/services.ts";
import { readTeams, tenantTools, toolName } from "../session/tool-names.ts";

/** Seconds that a call waits for its run by default: clients give up after sixty. */
const WAIT_SECONDS = 50;
/** Files of one call. */
const MOST_FILES = 20;
/** Tools of a page of the list, each of which names the team as its object knows it. */
const PAGE = 50;

/** A file of a task. Exactly one of `data`, `path` and `url` is given. */
const fileSchema = z.strictObject({
  data: z.string().optional().describe("The bytes as base64."),
  path: z.string().optional().describe("Instead of data: a file of the team's workspace."),
  url: z.string().optional().describe("Instead of data: where the file is fetched."),
  name: z.string().optional(),
  media_type: z.string().optional().describe("With data that is not a picture."),
});
export type TaskFile = z.output<typeof fileSchema>;

/**
 * The arguments of the tools.
 *
 * @param mostSeconds the longest time that a call may wait
 * @param tasks whether a run that continues becomes a task, so that its call need not wait
 */
export function toolInputs(mostSeconds: number, tasks: boolean) {
  const seconds = z
    .number()
    .int()
    .min(0)
    .max(mostSeconds)
    .describe("Seconds to wait for the end of the run. The run continues after that.");
  const wait_seconds = seconds.default(Math.min(WAIT_SECONDS, mostSeconds));
  const run = { team_id: idSchema, run_id: idSchema };
  return {
    run: z.strictObject({
      task: z.string().min(1).describe("The task of the team, or the next message to it."),
      files: z
        .array(fileSchema)
        .min(1)
        .max(MOST_FILES)
        .optional()
        .describe("Files of the task: pictures, PDF and texts."),
      wait_seconds: tasks ? seconds.default(0) : wait_seconds,
    }),
    [GET_RUN]: z.strictObject({ ...run, wait_seconds }),
    [STOP_RUN]: z.strictObject(run),
    [ANSWER_REQUEST]: z.strictObject({
      ...run,
      request_id: z.string().min(1).max(500),
      content: z.string().optional().describe("The answer to a request of the kind input."),
      approved: z.boolean().optional().describe("The answer to a request of the kind approval."),
      reason: z.string().max(10_000).optional().describe("The reason of an approval or a refusal."),
      wait_seconds,
    }),
    [LIST_TEAMS]: z.strictObject({
      q: z.string().min(1).max(200).optional().describe("A part of the label or the id."),
      cursor: z.string().max(500).optional().describe("A next_cursor of an earlier answer."),
    }),
  };
}

export const teamsOutputSchema = z.object({
  teams: z.array(
    z.object({
      id: z.string(),
      label: z.string().nullable(),
      status: z.string(),
      tool: z.string(),
    }),
  ),
  next_cursor: z.string().nullable(),
});

/** A page of the tools that the credential may call. @throws ProblemError for an invalid cursor */
export async function listTools(
  request: McpRequest,
  { cursor, tasks }: { cursor: string | undefined; tasks: boolean },
): Promise<{ tools: Tool[]; nextCursor?: string }> {
  const { services, principal, only } = request;
  const inputs = toolInputs(services.limits.max_wait_seconds, tasks);
  const may = (tool: Tool): boolean =>
    principal.scopes.includes(scopeOfTool(tool.name)) ||
    (tool.name === ANSWER_REQUEST && principal.scopes.includes("runs:write"));
  const common = commonTools(inputs).filter(may);
  if (only !== undefined) {
    const own = [runTool(toolName(only), only, inputs.run)];
    return { tools: [...own, ...common.filter(({ name }) => name !== LIST_TEAMS)].filter(may) };
  }
  if (!principal.scopes.includes("runs:write")) return { tools: common };
  const named = [...(await tenantTools(request))];
  const start = offsetOf(cursor);
  const page = named.slice(start, start + PAGE);
  const teams = await readTeams(
    request,
    page.map(([, { id }]) => id),
  );
  const own = page.flatMap(([name, { id }]) => {
    const team = teams.get(id);
    return team === undefined ? [] : [runTool(name, team, inputs.run)];
  });
  const next = start + PAGE;
  return {
    tools: [...(start === 0 ? common : []), ...own],
    ...(next < named.length && { nextCursor: String(next) }),
  };
}

function runTool(name: string, { id, label, component }: TeamInfo, input: z.ZodType): Tool {
  const { provider, description } = component;
  const [kind = provider] = provider.split(".").slice(-1);
  const about = description == null || description === "" ? kind : description;
  return {
    name,
    title: label ?? id,
    description: `Gives a task to ${label === null ? "" : `"${label}", `}a team of AI agents (${about}), and returns its answer. The team remembers what was said before.`,
    inputSchema: inputSchema(input),
    outputSchema: outputSchema(runOutputSchema),
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    _meta: { "troupe/team-id": id },
  };
}

function commonTools(inputs: ReturnType<typeof toolInputs>): Tool[] {
  return [
    {
      name: LIST_TEAMS,
      title: "List teams",
      description:
        "Lists the teams of AI agents with the tools that run them, latest activity first.",
      inputSchema: inputSchema(inputs[LIST_TEAMS]),
      outputSchema: outputSchema(teamsOutputSchema),
      annotations: { readOnlyHint: true },
    },
    {
      name: GET_RUN,
      title: "Get a run",
      description: "Waits for the end of a team's active run, and returns its answer.",
      inputSchema: inputSchema(inputs[GET_RUN]),
      outputSchema: outputSchema(runOutputSchema),
      annotations: { readOnlyHint: true },
    },
    {
      name: ANSWER_REQUEST,
      title: "Answer a request",
      description:
        "Gives a human's answer to a run that waits for it, and returns what the team says then. Ask the user first; never make an answer up.",
      inputSchema: inputSchema(inputs[ANSWER_REQUEST]),
      outputSchema: outputSchema(runOutputSchema),
      annotations: { readOnlyHint: false, idempotentHint: true },
    },
    {
      name: STOP_RUN,
      title: "Stop a run",
      description: "Cancels a team's run. What was said before stays.",
      inputSchema: inputSchema(inputs[STOP_RUN]),
      outputSchema: outputSchema(runOutputSchema),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    },
  ];
}

function inputSchema(schema: z.ZodType): Tool["inputSchema"] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
  return { ...json, type: "object" } as Tool["inputSchema"];
}

function outputSchema(schema: z.ZodType): NonNullable<Tool["outputSchema"]> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { unrepresentable: "any" });
  return { ...json, type: "object" };
}

/** The place that the cursor of a list names: how many items come before it. @throws ProblemError 422 */
function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw invalid("invalid_cursor", "cursor must be the nextCursor of an earlier page.", [
    { path: "cursor", message: "must be the nextCursor of an earlier page" },
  ]);
}
