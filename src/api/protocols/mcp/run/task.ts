import type { Result, Server } from "@modelcontextprotocol/server";
import { ID } from "../../../../contract/constants.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import { questionText } from "../../shared/question-text.ts";
import type { McpRequest } from "../session/services.ts";
import { inputRequestsOf } from "./input-requests.ts";
import { resultOfTool } from "./typed-result.ts";

/** The extension by which a call is answered with a task. */
export const TASKS = "io.modelcontextprotocol/tasks";

/** Milliseconds between two looks at a task: short while it is young, because most runs are short. */
const POLL_YOUNG_MS = 1_000;
const POLL_MS = 5_000;
const YOUNG_MS = 30_000;

/** True if the client of a request accepts a task as an answer. */
export function takesTasks(server: Pick<Server, "getClientCapabilities">): boolean {
  return server.getClientCapabilities()?.extensions?.[TASKS] !== undefined;
}

/** A run by the id of its task. */
export interface McpTaskAddress {
  team: string;
  run: string;
}

/** The place that a task's id names; undefined for an id that was not made here. */
export function placeOfTask(id: string): McpTaskAddress | undefined {
  const [team = "", run = "", ...rest] = id.split("/");
  return rest.length === 0 && ID.test(team) && ID.test(run) ? { team, run } : undefined;
}

/** The answer to a call whose run continues. */
export function createdTask(run: RunInfo): Result {
  return { resultType: "task", ...taskOf(run) };
}

/**
 * A run as a task, with its result or with what it asks. A client that cannot show forms gets the result that a call without
 * tasks would have: it says how to answer.
 *
 * @param asks whether the client shows forms, and may answer
 */
export async function detailedTask(
  request: McpRequest,
  run: RunInfo,
  asks: boolean,
): Promise<Result> {
  if (run.status === "waiting" && asks)
    return { ...taskOf(run), inputRequests: inputRequestsOf(run.requests) };
  if (["waiting", "completed", "failed"].includes(run.status))
    return { ...taskOf(run), status: "completed", result: await resultOfTool(request, run) };
  return taskOf(run);
}

/** The common fields of all tasks. A run is kept as long as its team, so its task never expires. */
function taskOf(run: RunInfo): Result {
  const { created_at: createdAt, started_at, ended_at, requests } = run;
  const asked = requests.map((question) => question.created_at);
  const times = [createdAt, started_at ?? createdAt, ended_at ?? createdAt, ...asked];
  const isYoung = Date.now() - Date.parse(createdAt) < YOUNG_MS;
  const statusMessage = messageOf(run);
  return {
    taskId: `${run.team_id}/${run.id}`,
    status: statusOf(run),
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt,
    lastUpdatedAt: times.toSorted().at(-1),
    ttlMs: null,
    pollIntervalMs: run.status === "running" && isYoung ? POLL_YOUNG_MS : POLL_MS,
  };
}

/** A run that failed is a tool that reports an error: its task is completed. */
function statusOf({ status }: RunInfo): string {
  switch (status) {
    case "waiting":
      return "input_required";
    case "completed":
    case "failed":
      return "completed";
    case "cancelled":
      return "cancelled";
    default:
      return "working";
  }
}

function messageOf({ status, requests }: RunInfo): string | undefined {
  switch (status) {
    case "queued":
      return "The run waits until another run of the team has ended.";
    case "paused":
      return "The run is paused.";
    case "waiting":
      return requests.map(questionText).join("\n\n");
    default:
      return undefined;
  }
}
