import { beginningOf } from "../../../../core/cut.ts";
import type {
  CallToolRequest,
  CallToolResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type * as z from "zod";
import { issuesOf } from "../../../../core/issues.ts";
import { answerSchema, type RunInfo } from "../../../../contract/run.ts";
import type { Template } from "../../../../core/component/template.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { invalid, ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import {
  ANSWER_REQUEST,
  GET_RUN,
  LIST_TEAMS,
  READ_RUN,
  RUN_PREFIX,
  RUN_TEAM,
  RUN_TEMPLATE,
  STOP_RUN,
} from "../session/access.ts";
import { readRun } from "../app/read-run.ts";
import { giveAnswer } from "../run/elicitation.ts";
import { answeredResult, refusal, runResult } from "../run/run-result.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { runTeam } from "../run/run-team.ts";
import { takesTasks } from "../run/task.ts";
import { typedByTool } from "../run/typed-result.ts";
import { type McpToolCall, waitForRun } from "../run/wait-for-run.ts";
import type { McpToolResult } from "../run/output.ts";
import { listTeams } from "./list-teams.ts";
import { toolNamed } from "./offered-tools.ts";
import { ownToolNamed, runOwnTool } from "./own-tools.ts";
import { runTemplate } from "./run-template.ts";
import { type ToolInputs, toolInputs } from "../run/tool-inputs.ts";

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
        const result = await waitForRun(call, {
          team: team_id,
          run: run_id,
          seconds: wait_seconds,
        });
        // The rest of the stream of a call of an own tool.
        const { tool } = request.resumes ?? {};
        return tool === undefined ? result : typedByTool(request, team_id, tool, result);
      });
    case READ_RUN:
      return orRefusal(async () => {
        const given = parse(inputs[READ_RUN], args);
        if (given.team_id !== undefined) requireOwn(request, given.team_id);
        return readRun(request, given, ctx.mcpReq.signal);
      });
    case ANSWER_REQUEST:
      return orRefusal(async () => answerRequest(call, parse(inputs[ANSWER_REQUEST], args)));
    case STOP_RUN:
      return orRefusal(async () => stopRun(request, parse(inputs[STOP_RUN], args)));
    case RUN_TEAM:
      if (request.only !== undefined) break;
      return orRefusal(async () => {
        const { team, ...given } = parse(inputs[RUN_TEAM], args);
        return runTeam(call, team, given);
      });
    case RUN_TEMPLATE:
      if (request.only !== undefined) break;
      return orRefusal(async () => {
        const { template, ...given } = parse(inputs[RUN_TEMPLATE], args);
        return runTemplate(call, await templateNamed(request, template), given);
      });
    default:
  }
  const isAtTeam = request.only !== undefined;
  const own =
    isAtTeam || name.startsWith(RUN_PREFIX) ? undefined : await ownToolNamed(request, name);
  if (own !== undefined) return orRefusal(async () => runOwnTool(call, own, args as JsonObject));
  const tool = await toolNamed(request, name);
  if (tool === undefined) throw unknownTool(name);
  return orRefusal(async () =>
    "team" in tool
      ? runTeam(call, tool.team.id, parse(inputs.run, args))
      : runTemplate(call, tool.template, parse(inputs.template, args)),
  );
}

/** @throws ProblemError 422 for one that is not offered */
async function templateNamed({ services }: McpRequest, name: string): Promise<Template> {
  const templates = await services.templates();
  const template = templates.find((one) => one.name === name);
  if (template !== undefined) return template;
  const message = `must be one of ${templates.map((one) => one.name).join(", ")}`;
  throw invalid("unknown_template", `There is no template ${JSON.stringify(name)}.`, [
    { path: "template", message },
  ]);
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
  }: z.output<ToolInputs[typeof ANSWER_REQUEST]>,
): Promise<McpToolResult> {
  requireOwn(call.request, team_id);
  const answer = parse(answerSchema, given) as JsonObject;
  const { request } = call;
  const { scopes } = request.principal;
  const question = { team: team_id, run: run_id, question: request_id };
  // A caller that may only answer learns that the answer was taken, not what the team says then.
  if (!scopes.includes("runs:read") && !scopes.includes("runs:write"))
    return answeredResult(unwrap(await giveAnswer(request, question, answer)));
  // A page shows the next question, and why the run fails.
  if (wait_seconds === 0) {
    unwrap(await giveAnswer(request, question, answer));
    return runAsItIs(request, unwrap(await teamOf(request, team_id).run(run_id)));
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
  return runAsItIs(request, run);
}

/** A run as the result of a call that has done its own part, however the run ends. */
async function runAsItIs(request: McpRequest, run: RunInfo): Promise<CallToolResult> {
  const { isError: _, ...result } = await runResult(request, run);
  return result;
}
