import type {
  CallToolResult,
  InputRequiredResult,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { OpenedStream } from "../../../contract/gateways/team-gateway.ts";
import { ID } from "../../../contract/constants.ts";
import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import { unwrap } from "../../../http/problem.ts";
import { answerOf, elicitationRequest, formOf, giveAnswer } from "./elicitation.ts";
import { followRun } from "./follow-run.ts";
import { Progress } from "./progress.ts";
import { runResult } from "./run-result.ts";
import { type McpRequest, teamOf } from "../services.ts";
import { canShowForms } from "../session.ts";

/** A call of a tool. */
export interface Call {
  request: McpRequest;
  ctx: ServerContext;
  server: Server;
}

export interface Settled {
  team: string;
  run: string;
  /** How long to wait. */
  seconds: number;
  /** The run's stream, if it is open already. */
  opened?: OpenedStream;
}

/**
 * Waits for a run, tells the client what the team says, and asks the human behind the client what the team asks, where
 * the client can. The result is the run's, or says how to go on.
 *
 * @throws ProblemError
 */
export async function settle(
  call: Call,
  { team: id, run, seconds, opened }: Settled,
): Promise<CallToolResult | InputRequiredResult> {
  const { request, ctx } = call;
  const team = teamOf(request, id);
  const dismissed = await takeResponses(call, id, run);
  const { asks, now } = formsOf(call);
  const asked = new Set<string>();
  const progress = new Progress(ctx);
  if (seconds > 0) {
    await followRun(
      team,
      run,
      {
        signal: AbortSignal.any([AbortSignal.timeout(seconds * 1000), ctx.mcpReq.signal]),
        onItem: (item) => progress.item(item),
        onRun: async (info) => {
          if (now) await ask(call, info, asked);
          if (info.status === "paused") return false;
          return info.status !== "waiting" || asked.size > 0;
        },
      },
      opened,
    );
  }
  const info = unwrap(await team.run(run));
  const open = info.requests.filter((question) => !dismissed.has(question.id));
  if (asks && !now && info.status === "waiting" && open.length > 0) return inputRequired(run, open);
  return runResult(team, info);
}

/** Whether the client shows forms: at once, on the call's stream, or as the call's result. */
function formsOf({ request, ctx, server }: Call): { asks: boolean; now: boolean } {
  if (!mayAnswer(request)) return { asks: false, now: false };
  if (ctx.mcpReq.envelope !== undefined)
    return { asks: canShowForms(server.getClientCapabilities()), now: false };
  const forms = request.session?.forms ?? false;
  return { asks: forms, now: forms };
}

function mayAnswer({ principal: { scopes } }: McpRequest): boolean {
  return scopes.includes("requests:write") || scopes.includes("runs:write");
}

/** Asks what was not asked before. The answers come with other requests, maybe to another server. */
async function ask({ ctx, server }: Call, run: RunInfo, asked: Set<string>): Promise<void> {
  for (const question of run.requests) {
    if (asked.has(question.id)) continue;
    asked.add(question.id);
    await server.transport?.send(elicitationRequest(run.team_id, run.id, question), {
      relatedRequestId: ctx.mcpReq.id,
    });
  }
}

/** The result of a call that is made again, with the answers. Its state is the run: a client may answer what it may see. */
function inputRequired(run: string, questions: readonly HumanRequest[]): InputRequiredResult {
  return {
    resultType: "input_required",
    requestState: run,
    inputRequests: Object.fromEntries(
      questions.map((question) => [
        `${question.kind}:${question.id}`,
        { method: "elicitation/create", params: { mode: "form", ...formOf(question) } },
      ]),
    ),
  };
}

/** The run of a call that is made again; undefined for a first one. */
export function stateOf(ctx: ServerContext): string | undefined {
  const state = ctx.mcpReq.requestState();
  return typeof state === "string" && ID.test(state) ? state : undefined;
}

/** Gives the answers of a call that is made again. @returns the questions that the human did not answer */
async function takeResponses(
  { request, ctx }: Call,
  team: string,
  run: string,
): Promise<Set<string>> {
  const dismissed = new Set<string>();
  if (!mayAnswer(request)) return dismissed;
  for (const [key, response] of Object.entries(ctx.mcpReq.inputResponses ?? {})) {
    const [kind, question = ""] = split(key);
    const answer = answerOf(kind === "approval" ? "approval" : "input", response);
    if (answer === undefined) {
      dismissed.add(question);
      continue;
    }
    const given = await giveAnswer(request, { team, run, question }, answer);
    // Somebody else has answered it, or the run has ended: its result tells.
    if (!given.ok && given.problem.status !== 409) unwrap(given);
  }
  return dismissed;
}

function split(key: string): [kind: string, question?: string] {
  const colon = key.indexOf(":");
  return colon === -1 ? [key] : [key.slice(0, colon), key.slice(colon + 1)];
}
