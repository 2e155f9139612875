import { beginningOf } from "../../../core/cut.ts";
import type { Result, Server, ServerContext } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { invalid, ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import { TeamConversation } from "../shared/conversation.ts";
import { readResponses } from "./run/input-requests.ts";
import { detailedTask, placeOfTask, takesTasks, TASKS } from "./run/task.ts";
import { mayAnswer } from "./run/wait-for-run.ts";
import { MissingRequiredClientCapabilityError } from "./session/sdk.ts";
import { type McpRequest, teamOf } from "./session/services.ts";
import { canShowForms } from "./session/session.ts";

const params = z.looseObject({ taskId: z.string().max(200) });

/** The methods of the tasks extension. A task is a run: nothing else is kept of it. */
export const TASK_METHODS = {
  /** The run as it is. */
  "tasks/get": async (request, id, { server }) => {
    const { run } = await findTask(request, id);
    const asks = mayAnswer(request) && canShowForms(server.getClientCapabilities());
    return detailedTask(request, run, asks);
  },

  /** Answers what the run asks. Answers to anything else have no effect. */
  "tasks/update": async (request, id, { ctx }) => {
    const { team, run } = await findTask(request, id);
    const { inputResponses } = ctx.mcpReq;
    if (inputResponses === undefined) {
      const issue = { path: "inputResponses", message: "must be an object" };
      throw invalid("invalid_params", "Invalid params: inputResponses must be an object", [issue]);
    }
    const { answers } = readResponses(run, inputResponses);
    if (answers.length > 0)
      unwrap(
        await new TeamConversation(team, request.services, request.principal).answer(
          run.id,
          answers,
        ),
      );
    return {};
  },

  /** Cancels the run, unless it has ended. */
  "tasks/cancel": async (request, id) => {
    const { team, run } = await findTask(request, id);
    const stopped = await team.stopRun(run.id, "now");
    if (!stopped.ok && stopped.problem.code !== "run_ended") unwrap(stopped);
    return {};
  },
} as const satisfies Record<string, TaskMethod>;

type TaskMethod = (
  request: McpRequest,
  id: string,
  call: { ctx: ServerContext; server: Server },
) => Promise<Result>;

/** The schemas of all methods: what they give has no schema, because the SDK knows the shapes of an earlier revision only. */
export const TASK_SCHEMAS = { params };

/** @throws MissingRequiredClientCapabilityError for a client that has not said that it knows tasks */
export function requireTasks(server: Server): void {
  if (takesTasks(server)) return;
  throw new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    `The request must declare the client's capability extensions["${TASKS}"]`,
  );
}

/** The run of a task, for whoever may see the run. @throws ProblemError 404 */
async function findTask(
  request: McpRequest,
  id: string,
): Promise<{ team: TeamGateway; run: RunInfo }> {
  const address = placeOfTask(id);
  if (address !== undefined && (request.only === undefined || request.only.id === address.team)) {
    const team = teamOf(request, address.team);
    const run = await team.run(address.run);
    if (run.ok || run.problem.status !== 404) return { team, run: unwrap(run) };
  }
  const detail = `There is no task ${JSON.stringify(beginningOf(id, 200))}.`;
  throw new ProblemError({ status: 404, code: "task_not_found", detail });
}
