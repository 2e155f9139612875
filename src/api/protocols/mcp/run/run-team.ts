import type {
  OpenedStream,
  StartRunInput,
  TeamGateway,
} from "../../../../contract/gateways/team-gateway.ts";
import { ok, type Result } from "../../../../contract/result.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { askerOf } from "../../../http/access/access-control.ts";
import { ProblemError, unwrap } from "../../../http/endpoint/problem.ts";
import { hopsOf } from "../../../http/input/call.ts";
import { readTask } from "../../../http/input/task.ts";
import { TeamConversation, type NewRunOptions } from "../../shared/conversation.ts";
import { ProtocolError, ProtocolErrorCode } from "../session/sdk.ts";
import type { CallFile } from "./tool-inputs.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { idempotencyOf, REQUEST_OF_RUN } from "./idempotency.ts";
import { runOfState } from "./request-state.ts";
import { takesTasks } from "./task.ts";
import { type McpToolCall, resultOf, waitForRun } from "./wait-for-run.ts";
import type { McpToolResult } from "./output.ts";

interface GivenTask {
  task: string;
  files?: CallFile[] | undefined;
  wait_seconds: number;
}

type TaskOfCall = Omit<GivenTask, "wait_seconds">;

/** A run of a call, besides its task. */
interface RunOfCall {
  /** Distinguishes a call that has no key of its client. */
  key?: string;
  metadata?: JsonObject;
}

/** Gives a task to a team, or continues the run of a call that is made again with answers. @throws ProblemError or ProtocolError */
export async function runTeam(
  call: McpToolCall,
  team: string,
  { wait_seconds: seconds, ...task }: GivenTask,
  about: RunOfCall = {},
): Promise<McpToolResult> {
  const { ctx, server } = call;
  const state = ctx.mcpReq.requestState();
  if (state !== undefined) return continueRun(call, { team, state, seconds });
  const asTask = takesTasks(server);
  const started = await start(call, { team, task, about }, seconds > 0);
  const { run, info, opened } = started;
  const result =
    info === undefined
      ? await waitForRun(call, { team, run, seconds, asTask, ...(opened && { opened }) })
      : await resultOf(call, info, { asTask });
  if (started.created) return result;
  return { ...result, _meta: { ...result._meta, "troupe/repeated": true } };
}

async function continueRun(
  call: McpToolCall,
  { team, state, seconds }: { team: string; state: unknown; seconds: number },
): Promise<McpToolResult> {
  const unknown = new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "requestState must be the one of an earlier result of this tool",
    { reason: "invalid_request_state" },
  );
  const run = typeof state === "string" ? await runOfState(team, state) : undefined;
  // Starting another run would be a surprise.
  if (run === undefined) throw unknown;
  try {
    return await waitForRun(call, { team, run, seconds });
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "run_not_found") throw unknown;
    throw error;
  }
}

/** A run that a call has started or found: its stream, or the run as it is where the client does not wait for it. */
interface Started {
  run: string;
  /** True if the call has started it. */
  created: boolean;
  opened?: OpenedStream;
  info?: RunInfo;
}

/**
 * Starts a run. A call without a key that equals the one of an active run is taken for that call made again, and finds its run: its
 * client may have lost the connection before it learned of the run.
 */
async function start(
  call: McpToolCall,
  { team: id, task, about }: { team: string; task: TaskOfCall; about: RunOfCall },
  follows: boolean,
): Promise<Started> {
  const { request, ctx } = call;
  const { services, principal } = request;
  const team = teamOf(request, id);
  const conversation = new TeamConversation(team, services, principal);
  const input = await taskOf(task, services, team);
  const { id: requestId, _meta: meta } = ctx.mcpReq;
  const idempotency = await idempotencyOf(request, {
    id: requestId,
    meta,
    input: { team: id, ...task },
  });
  const key = idempotency?.key ?? about.key ?? (await keyOfCall(request, task));
  const hops = hopsOf(request.headers, { path: "params._meta", value: meta });
  const begin = (on_conflict: "reject" | "queue"): Promise<Result<Started>> => {
    const options: NewRunOptions = {
      on_conflict,
      ...askerOf(principal),
      metadata: { ...about.metadata, [REQUEST_OF_RUN]: key },
      ...hops,
      ...(idempotency && { idempotency }),
    };
    return follows ? followed(conversation, input, options) : alone(conversation, input, options);
  };
  const started = await begin(idempotency ? "queue" : "reject");
  if (started.ok || started.problem.code !== "team_busy") return unwrap(started);
  const { runs } = unwrap(await team.runs({ limit: services.limits.max_page_size }));
  const same = runs.find((run) => run.ended_at === null && run.metadata[REQUEST_OF_RUN] === key);
  if (same === undefined) return unwrap(await begin("queue"));
  return { run: same.id, created: false, ...(!follows && { info: same }) };
}

type NewRunTask = StartRunInput["task"];

/** @throws ProblemError that names the file */
async function taskOf(
  { task, files }: TaskOfCall,
  services: McpRequest["services"],
  team: TeamGateway,
): Promise<NewRunTask> {
  if (files === undefined) return readTask(task, services, { team });
  const message = { type: "MultiModalMessage", source: "user", content: [task, ...files] };
  try {
    return await readTask(message, services, { team });
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { errors, ...problem } = error.problem;
    if (errors === undefined) throw error;
    throw new ProblemError({
      ...problem,
      errors: errors.map(({ path, message: why }) => ({ path: argumentAt(path), message: why })),
    });
  }
}

/** The argument that a part of the message was made of. */
function argumentAt(path: string): string {
  return path.replace(/^task\.content\[(\d+)\]/, (_, index: string) =>
    index === "0" ? "task" : `files[${Number(index) - 1}]`,
  );
}

async function followed(
  conversation: TeamConversation,
  task: NewRunTask,
  options: NewRunOptions,
): Promise<Result<Started>> {
  const started = await conversation.start(task, options);
  if (!started.ok) return started;
  const { run, created } = started.value;
  return ok({ run, created, opened: started.value });
}

async function alone(
  conversation: TeamConversation,
  task: NewRunTask,
  options: NewRunOptions,
): Promise<Result<Started>> {
  const started = await conversation.startAlone(task, options);
  if (!started.ok) return started;
  const { created, ...info } = started.value;
  return ok({ run: info.id, created, info });
}

/** Distinguishes calls that have no key, by their caller and task. @param call with the name of the template, if it runs one */
export async function keyOfCall(
  { principal }: McpRequest,
  { task, files = [], template }: TaskOfCall & { template?: string },
): Promise<string> {
  const named = template === undefined ? [] : [{ template }];
  return `mcp-${await sha256Hex(JSON.stringify(["call", principal.id, task, ...files, ...named]))}`;
}
