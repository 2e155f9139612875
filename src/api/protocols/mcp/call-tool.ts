import { beginningOf } from "../../../core/cut.ts";
import type {
  CallToolRequest,
  CallToolResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type * as z from "zod";
import { issuesOf } from "../../../core/issues.ts";
import { answerSchema } from "../../../contract/run.ts";
import type { JsonObject } from "../../../core/json.ts";
import { invalid, ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import { listsOf } from "../../http/endpoint/services.ts";
import { ANSWER_REQUEST, GET_RUN, LIST_TEAMS, STOP_RUN } from "./session/access.ts";
import { giveAnswer } from "./run/elicitation.ts";
import { answeredResult, refusal, runResult } from "./run/run-result.ts";
import { type McpRequest, teamOf } from "./session/services.ts";
import { runTeam } from "./run/run-team.ts";
import { takesTasks } from "./run/task.ts";
import { type McpToolCall, type McpToolResult, waitForRun } from "./run/wait-for-run.ts";
import { teamOfTool, tenantTools, toolName } from "./session/tool-names.ts";
import { toolInputs } from "./run/list-tools.ts";

/** Calls a tool. What is refused is a result that the model reads. @throws ProblemError 404 for an unknown tool */
export async function callTool(
  request: McpRequest,
  { params }: CallToolRequest,
  ctx: ServerContext,
  server: Server,
): Promise<McpToolResult> {
  const { name, arguments: args = {} } = params;
  const call: McpToolCall = { request, ctx, server };
  const inputs = toolInputs(request.services.limits.max_wait_seconds, takesTasks(server));
  switch (name) {
    case LIST_TEAMS:
      if (request.only !== undefined) throw unknownTool(name);
      return orRefusal(async () => listTeams(request, parse(inputs[LIST_TEAMS], args)));
    case GET_RUN:
      return orRefusal(async () => {
        const { team_id, run_id, wait_seconds } = parse(inputs[GET_RUN], args);
        requireOwn(request, team_id);
        return waitForRun(call, { team: team_id, run: run_id, seconds: wait_seconds });
      });
    case ANSWER_REQUEST:
      return orRefusal(async () => answerRequest(call, parse(inputs[ANSWER_REQUEST], args)));
    case STOP_RUN:
      return orRefusal(async () => stopRun(request, parse(inputs[STOP_RUN], args)));
    default: {
      const team = await teamOfTool(request, name);
      if (team === undefined) throw unknownTool(name);
      return orRefusal(async () => runTeam(call, team, parse(inputs.run, args)));
    }
  }
}

function unknownTool(name: string): ProblemError {
  const detail = `There is no tool ${JSON.stringify(beginningOf(name, 100))}; tools/list lists all.`;
  return new ProblemError({ status: 404, code: "tool_not_found", detail });
}

async function orRefusal(call: () => Promise<McpToolResult>): Promise<McpToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ProblemError) return refusal(error.problem);
    throw error;
  }
}

/** @throws ProblemError 422 */
function parse<T extends z.ZodType>(schema: T, input: unknown): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalid("invalid_arguments", "The arguments are invalid.", issuesOf(result.error));
}

/** @throws ProblemError 404 for another team at the address of one */
function requireOwn({ only }: McpRequest, team: string): void {
  if (only === undefined || only.id === team) return;
  throw new ProblemError({
    status: 404,
    code: "team_not_found",
    detail: `This server is about the team ${only.id} only.`,
  });
}

async function answerRequest(
  call: McpToolCall,
  {
    team_id,
    run_id,
    request_id,
    wait_seconds,
    ...given
  }: z.output<ReturnType<typeof toolInputs>[typeof ANSWER_REQUEST]>,
): Promise<McpToolResult> {
  requireOwn(call.request, team_id);
  const answer = parse(answerSchema, given) as JsonObject;
  const { scopes } = call.request.principal;
  // A caller that may only answer learns that the answer was taken, not what the team says then.
  if (!scopes.includes("runs:read") && !scopes.includes("runs:write")) {
    const question = { team: team_id, run: run_id, question: request_id };
    return answeredResult(unwrap(await giveAnswer(call.request, question, answer)));
  }
  // A client that comes back with an answer to another question gives this one again.
  const answers = [{ request: request_id, answer }];
  return waitForRun(call, { team: team_id, run: run_id, seconds: wait_seconds, answers });
}

async function stopRun(
  request: McpRequest,
  { team_id, run_id }: { team_id: string; run_id: string },
): Promise<CallToolResult> {
  requireOwn(request, team_id);
  const team = teamOf(request, team_id);
  const { repeated: _, ...run } = unwrap(await team.stopRun(run_id, "now"));
  const { isError: __, ...result } = await runResult(request, run);
  return result;
}

async function listTeams(
  request: McpRequest,
  { q, cursor }: { q?: string | undefined; cursor?: string | undefined },
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
  const names = new Map([...(await tenantTools(request))].map(([name, { id }]) => [id, name]));
  const teams = page.teams.map(({ id, label, status }) => ({
    id,
    label,
    status,
    tool: names.get(id) ?? toolName({ id, label: null }),
  }));
  const output = { teams, next_cursor: page.next_cursor };
  return {
    content: [{ type: "text", text: JSON.stringify(output) }],
    structuredContent: output,
  };
}
