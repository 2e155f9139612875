import type { OpenedStream } from "../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../contract/run.ts";
import { unwrap } from "../../http/problem.ts";
import { lastMessage } from "../last-message.ts";
import { A2AError } from "./errors.ts";
import { withFiles, writtenFiles } from "./files.ts";
import {
  getTaskSchema,
  listTasksSchema,
  parseParams,
  taskIdOf,
  taskIdSchema,
} from "./request/params.ts";
import { formatOf } from "./format.ts";
import { type A2ARequest, needs } from "./request/services.ts";
import { type HistoryLength, statusesOf, taskOf, timeOf } from "./task.ts";
import type { Task } from "./wire.ts";

/** Pages of runs that are looked through for one page of tasks. */
const MOST_PAGES = 5;

/** `GetTask`. @throws A2AError or ProblemError */
export async function getTask(request: A2ARequest, params: unknown): Promise<Task> {
  needs(request, "runs:read");
  const { id, historyLength } = parseParams(getTaskSchema, params);
  const run = unwrap(await request.team.run(taskIdOf(id)));
  return readTask(request, run, historyLength);
}

/** A run as it is shown by itself: with its answer, however long its result is, and with the files it wrote. */
export async function readTask(
  request: A2ARequest,
  run: RunInfo,
  historyLength: HistoryLength,
): Promise<Task> {
  if (run.status !== "completed") return taskOf(run, historyLength);
  let shown = run;
  if (run.result === null) {
    const last = await lastMessage(request.team, run);
    const { stop_reason } = run;
    shown = { ...run, result: { stop_reason, messages: last === undefined ? [] : [last] } };
  }
  return withFiles(taskOf(shown, historyLength), await writtenFiles(request, run));
}

/** `CancelTask`. @throws A2AError or ProblemError */
export async function cancelTask(request: A2ARequest, params: unknown): Promise<Task> {
  needs(request, "runs:write");
  const id = taskIdOf(parseParams(taskIdSchema, params).id);
  const stopped = await request.team.stopRun(id, "now");
  if (!stopped.ok && stopped.problem.code === "run_ended") {
    throw new A2AError("TASK_NOT_CANCELABLE", stopped.problem.detail);
  }
  unwrap(stopped);
  return taskOf(unwrap(await request.team.run(id)));
}

/** `SubscribeToTask`: the task, all that happened and what happens. @throws A2AError or ProblemError */
export async function subscribeToTask(request: A2ARequest, params: unknown): Promise<OpenedStream> {
  needs(request, "runs:read");
  const id = taskIdOf(parseParams(taskIdSchema, params).id);
  const { status, ended_at } = unwrap(await request.team.run(id));
  if (ended_at !== null) {
    throw new A2AError("UNSUPPORTED_OPERATION", `The task is ${status}: GetTask has its result.`);
  }
  return unwrap(await request.team.stream({ run: id, after: 0, format: formatOf(request.id) }));
}

interface TaskPage {
  tasks: Task[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

/**
 * `ListTasks`, newest first. `totalSize` counts what was listed up to this page, and one more where another page follows:
 * counting all would mean to read all.
 *
 * @throws A2AError or ProblemError
 */
export async function listTasks(request: A2ARequest, params: unknown): Promise<TaskPage> {
  needs(request, "runs:read");
  const given = parseParams(listTasksSchema, params);
  const { pageSize, contextId = "", historyLength, includeArtifacts } = given;
  const { cursor, before } = parseToken(given.pageToken);
  if (contextId !== "" && contextId !== request.teamId) {
    return { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 };
  }
  const { runs, next } = await findRuns(request, cursor, pageSize, filterOf(given));
  const tasks = await Promise.all(
    runs.map(async (run) =>
      includeArtifacts && run.status === "completed"
        ? readTask(request, unwrap(await request.team.run(run.id)), historyLength)
        : taskOf(run, historyLength),
    ),
  );
  const listed = before + tasks.length;
  return {
    tasks: includeArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks,
    nextPageToken: next === null ? "" : `${listed}.${next}`,
    pageSize: tasks.length,
    totalSize: next === null ? listed : listed + 1,
  };
}

type Filter = (run: RunInfo) => boolean;

function filterOf({
  status = "TASK_STATE_UNSPECIFIED",
  statusTimestampAfter,
}: {
  status?: string | undefined;
  statusTimestampAfter?: string | undefined;
}): Filter {
  const statuses = statusesOf(status);
  const since = statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
  return (run) =>
    (status === "TASK_STATE_UNSPECIFIED" || statuses.includes(run.status)) &&
    Date.parse(timeOf(run)) >= since;
}

/** A page of the runs that pass; it may have fewer than `limit` although more follow. */
async function findRuns(
  { team, services }: A2ARequest,
  start: string | undefined,
  limit: number,
  passes: Filter,
): Promise<{ runs: RunInfo[]; next: string | null }> {
  const found: RunInfo[] = [];
  let cursor = start;
  for (let page = 0; page < MOST_PAGES && found.length < limit; page++) {
    const { runs, next_cursor } = unwrap(
      await team.runs({
        limit: Math.min(limit - found.length, services.limits.max_page_size),
        ...(cursor !== undefined && { cursor }),
      }),
    );
    found.push(...runs.filter(passes));
    if (next_cursor === null) return { runs: found, next: null };
    cursor = next_cursor;
  }
  return { runs: found, next: cursor ?? null };
}

/** @throws A2AError */
function parseToken(token = ""): { cursor?: string; before: number } {
  if (token === "") return { before: 0 };
  const [, before, cursor] = /^(\d{1,9})\.([\w.~-]{1,256})$/.exec(token) ?? [];
  if (before !== undefined && cursor !== undefined) return { cursor, before: Number(before) };
  throw new A2AError("INVALID_PARAMS", "pageToken must be the nextPageToken of an earlier page");
}
