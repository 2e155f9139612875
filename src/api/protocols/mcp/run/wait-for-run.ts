import type { Server, ServerContext } from "@modelcontextprotocol/server";
import type { OpenedStream, TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { TeamConversation, type RequestAnswer } from "../../shared/conversation.ts";
import { CallLog } from "./call-log.ts";
import { elicitationRequest } from "./elicitation.ts";
import { followRun } from "../session/follow-run.ts";
import { inputRequestsOf, readResponses, type Responses } from "./input-requests.ts";
import type { McpToolResult } from "./output.ts";
import { ProgressReporter } from "./progress.ts";
import { runResult } from "./run-result.ts";
import { requestState } from "./request-state.ts";
import { createdTask } from "./task.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { canShowForms } from "../session/session.ts";

/** A call of a tool. */
export interface McpToolCall {
  request: McpRequest;
  ctx: ServerContext;
  server: Server;
  /** The name of the team's own tool, if the call is one of it. */
  tool?: string;
}

/** A run to wait for. */
export interface WaitedRun {
  team: string;
  run: string;
  /** The longest wait. */
  seconds: number;
  /** The run's stream, if it is open already. */
  opened?: OpenedStream;
  /** Answers with which the run continues. */
  answers?: readonly RequestAnswer[];
  /** True if the run becomes a task if it continues after that. */
  asTask?: boolean;
}

/**
 * Waits for a run, sends the client what the team says, and asks the human behind the client what the team asks, where
 * the client can. The result is the run's, or says how to continue.
 *
 * @throws ProblemError
 */
export async function waitForRun(
  call: McpToolCall,
  { team: id, run, seconds, opened, answers = [], asTask = false }: WaitedRun,
): Promise<McpToolResult> {
  const { request, ctx } = call;
  const team = teamOf(request, id);
  const conversation = new TeamConversation(team, request.services, request.principal);
  const responses = await responsesOf(call, team, run);
  const allAnswers = [...answers, ...responses.answers];
  const answering = new Set(allAnswers.map((one) => one.request));
  const follows = seconds > 0;
  let stream = opened;
  if (allAnswers.length > 0 && follows)
    stream = unwrap(await conversation.continue(run, allAnswers, { after: 0 }));
  else if (allAnswers.length > 0) unwrap(await conversation.answer(run, allAnswers));
  const { now } = formsOf(call);
  const { stream: events, resumes } = request;
  const asked = new Set(resumes?.asked);
  const sent = { cursor: resumes?.cursor ?? 0, progress: resumes?.progress ?? 0 };
  const next = (): void => events?.next({ ...sent, asked: [...asked] });
  const progress = new ProgressReporter(ctx, sent.progress, (count) => {
    sent.progress = count;
    next();
  });
  let isFollowed = resumes !== undefined;
  const log = new CallLog(call, next);
  const token = ctx.mcpReq._meta?.progressToken;
  events?.begin({
    team: id,
    run,
    request: ctx.mcpReq.id,
    ...(token !== undefined && { token }),
    ...(call.tool !== undefined && { tool: call.tool }),
    until: Date.now() / 1000 + seconds,
    ...sent,
    asked: [...asked],
  });
  if (follows) {
    await followRun(
      team,
      run,
      {
        budget: request.budget,
        signal: AbortSignal.any([AbortSignal.timeout(seconds * 1000), ctx.mcpReq.signal]),
        onItem: async (item, cursor) => {
          isFollowed = true;
          sent.cursor = cursor;
          await log.item(item);
          await progress.item(item);
        },
        onRun: async (info) => {
          await log.run(info);
          // The stream was opened before the answers were given.
          const open = info.requests.filter((question) => !answering.has(question.id));
          if (now) await ask(call, { ...info, requests: open }, asked, next);
          // A client that has not followed the run needs its result only.
          if (info.status === "paused" || (info.ended_at !== null && !isFollowed)) return false;
          const isBefore = open.length < info.requests.length;
          return info.status !== "waiting" || isBefore || asked.size > 0;
        },
      },
      stream,
      sent.cursor,
    );
  }
  // The client comes back for the rest, if it can. Any other gets the run as it is.
  if (request.budget.signal.aborted) events?.interrupt();
  const info = unwrap(await team.run(run));
  return resultOf(call, info, { asTask, dismissed: responses.dismissed });
}

/** A run as the result of a call that waits for it no longer. */
export async function resultOf(
  call: McpToolCall,
  run: RunInfo,
  { asTask, dismissed = new Set() }: { asTask: boolean; dismissed?: ReadonlySet<string> },
): Promise<McpToolResult> {
  if (asTask && run.ended_at === null) return createdTask(run);
  const { asks, now } = formsOf(call);
  const open = run.requests.filter(({ id: question }) => !dismissed.has(question));
  // The call is made again, with the answers.
  if (asks && !now && run.status === "waiting" && open.length > 0) {
    return {
      resultType: "input_required",
      requestState: await requestState(run, open),
      inputRequests: inputRequestsOf(open),
    };
  }
  return runResult(call.request, run);
}

/** The way in which the client gets forms, if it shows any: at once on the call's stream, or as the call's result. */
function formsOf({ request, ctx, server }: McpToolCall): { asks: boolean; now: boolean } {
  if (!mayAnswer(request)) return { asks: false, now: false };
  if (ctx.mcpReq.envelope !== undefined)
    return { asks: canShowForms(server.getClientCapabilities()), now: false };
  const forms = request.session?.forms ?? false;
  return { asks: forms, now: forms };
}

export function mayAnswer({ principal: { scopes } }: McpRequest): boolean {
  return scopes.includes("requests:write") || scopes.includes("runs:write");
}

/** Asks what was not asked before. The answers come with other requests, maybe to another server. */
async function ask(
  { ctx, server }: McpToolCall,
  run: RunInfo,
  asked: Set<string>,
  before: () => void,
): Promise<void> {
  for (const question of run.requests) {
    if (asked.has(question.id)) continue;
    asked.add(question.id);
    before();
    await server.transport?.send(elicitationRequest(run.team_id, run.id, question), {
      relatedRequestId: ctx.mcpReq.id,
    });
  }
}

/** The answers in a call that is made again. */
async function responsesOf(
  { request, ctx: { mcpReq } }: McpToolCall,
  team: TeamGateway,
  run: string,
): Promise<Responses> {
  if (!mayAnswer(request) || mcpReq.inputResponses === undefined)
    return { answers: [], dismissed: new Set() };
  return readResponses(unwrap(await team.run(run)), mcpReq.inputResponses);
}
