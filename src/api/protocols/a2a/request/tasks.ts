import { createParser } from "eventsource-parser";
import type * as z from "zod";
import type { OpenedStream } from "../../../../contract/gateways/team-gateway.ts";
import type { StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import { ok, type Result } from "../../../../contract/result.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import { callerOf } from "../../../http/access/access-control.ts";
import { mediaTypeOfPath } from "../../../http/endpoint/media-types.ts";
import { unwrap } from "../../../http/endpoint/problem.ts";
import { tenantOf } from "../../../http/endpoint/services.ts";
import { lastMessage, saidSoFar } from "../../shared/run-messages.ts";
import { writtenFiles } from "../../shared/written-files.ts";
import { A2AError, INVALID_TOKEN } from "../wire/errors.ts";
import { getTaskSchema, listTasksSchema, parseParams, taskIdSchema } from "./params.ts";
import { type Context, findContext, findTask, partiesOf, unwrapIn } from "./contexts.ts";
import { formatOf } from "../encoder/format.ts";
import { a2aFormats } from "../encoder/formats.ts";
import { type A2ARequest, needs } from "./services.ts";
import { type HistoryLength, inContext, statusesOf, taskOf, timeOf } from "../encoder/task.ts";
import type { Artifact, A2ATask } from "../wire/wire.ts";

/** Pages of runs that are looked through for one page of tasks. */
const MOST_PAGES = 5;

/** `GetTask`. @throws A2AError or ProblemError */
export async function getTask(request: A2ARequest, params: unknown): Promise<A2ATask> {
  needs(request, "runs:read");
  const { id, historyLength } = parseParams(getTaskSchema, params);
  const address = await findTask(request, id);
  const run = unwrapIn(address, await address.team.run(address.run));
  return readTask(request, address, run, historyLength);
}

/** A run as it is shown by itself: with its answer, however long its result is, and with the files it wrote. */
export async function readTask(
  request: A2ARequest,
  context: Context,
  run: RunInfo,
  historyLength: HistoryLength,
): Promise<A2ATask> {
  const { contextId } = context;
  if (run.status !== "completed") {
    const soFar = historyLength === 0 ? [] : await saidSoFar(context.team, run);
    return taskOf(inContext(run, contextId), historyLength, soFar);
  }
  let latest = run;
  if (run.result === null) {
    const last = await lastMessage(context.team, run);
    const { stop_reason } = run;
    latest = { ...run, result: { stop_reason, messages: last === undefined ? [] : [last] } };
  }
  const task = taskOf(inContext(latest, contextId), historyLength);
  return withFiles(task, await fileArtifacts(request, context, run));
}

/** The files that were written during a run, by their addresses in the HTTP API, which take the same credential. */
async function fileArtifacts(
  { services, principal, origin }: A2ARequest,
  { id: teamId, team }: Context,
  run: RunInfo,
): Promise<Result<Artifact[]>> {
  const written = await writtenFiles(services, principal, team, run);
  if (!written.ok) return written;
  const base = `${origin}/v1/teams/${teamId}/files`;
  return ok(written.value.map(({ path }) => fileArtifact(base, path)));
}

/** Without a reachable workspace, the task says so in its metadata. */
function withFiles(task: A2ATask, files: Result<Artifact[]>): A2ATask {
  if (!files.ok) {
    return { ...task, metadata: { ...task.metadata, "troupe/files_error": files.problem.code } };
  }
  if (files.value.length === 0) return task;
  return { ...task, artifacts: [...(task.artifacts ?? []), ...files.value] };
}

function fileArtifact(base: string, path: string): Artifact {
  const url = `${base}/${path.split("/").map(encodeURIComponent).join("/")}`;
  const filename = path.slice(path.lastIndexOf("/") + 1);
  return {
    artifactId: `file:${path}`,
    name: path,
    parts: [{ url, filename, mediaType: mediaTypeOfPath(path) }],
  };
}

/** `CancelTask`. @throws A2AError or ProblemError */
export async function cancelTask(request: A2ARequest, params: unknown): Promise<A2ATask> {
  needs(request, "runs:write");
  const address = await findTask(request, parseParams(taskIdSchema, params).id);
  const stopped = await address.team.stopRun(address.run, "now");
  if (!stopped.ok && stopped.problem.code === "run_ended") {
    throw new A2AError("TASK_NOT_CANCELABLE", "The task has ended: GetTask has its result.");
  }
  unwrapIn(address, stopped);
  const run = unwrapIn(address, await address.team.run(address.run));
  return taskOf(inContext(run, address.contextId));
}

/** `SubscribeToTask`: the task, all that happened and what happens, since 1.0 also after questions. @throws A2AError or ProblemError */
export async function subscribeToTask(request: A2ARequest, params: unknown): Promise<OpenedStream> {
  needs(request, "runs:read");
  const address = await findTask(request, parseParams(taskIdSchema, params).id);
  const { team, run, contextId } = address;
  const { status, ended_at } = unwrapIn(address, await team.run(run));
  if (ended_at !== null) {
    throw new A2AError("UNSUPPORTED_OPERATION", `The task is ${status}: GetTask has its result.`);
  }
  if (request.format === "a2a-0.3") {
    const format = formatOf(request, { contextId });
    return unwrapIn(address, await team.stream({ run, after: 0, format }));
  }
  const native = unwrapIn(address, await team.stream({ run, after: 0 }));
  if ("done" in native) return native;
  const { options } = formatOf(request, { contextId, toEnd: true });
  const encoder = a2aFormats[request.format].makeEncoder(options);
  return { body: encodedStream(native.body, encoder) };
}

interface TaskPage {
  tasks: A2ATask[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

/**
 * `ListTasks`: of one context newest first, of all conversations of the caller by their latest change. For one context
 * `totalSize` counts what was listed up to this page, and one more where another page follows: counting all would mean to
 * read all.
 *
 * @throws A2AError or ProblemError
 */
export async function listTasks(request: A2ARequest, params: unknown): Promise<TaskPage> {
  needs(request, "runs:read");
  const filter = parseParams(listTasksSchema, params);
  const { contextId = "", historyLength, includeArtifacts } = filter;
  const { cursor, before } = parseToken(filter.pageToken);
  const context = contextId === "" ? undefined : await findContext(request, contextId);
  if (contextId !== "" && context === undefined) return NO_TASKS;
  const found =
    context === undefined
      ? await findInConversations(request, cursor, filter)
      : await findInContext(request, context, cursor, filter);
  const tasks = await Promise.all(
    found.runs.map(async ({ context: at, run }) => {
      if (!includeArtifacts) {
        return taskOf(inContext({ ...run, result: null }, at.contextId), historyLength);
      }
      const whole = run.result ? run : unwrapIn(at, await at.team.run(run.id));
      return readTask(request, at, whole, historyLength);
    }),
  );
  const listed = before + tasks.length;
  return {
    tasks: includeArtifacts ? tasks.map((task) => ({ artifacts: [], ...task })) : tasks,
    nextPageToken: found.next === null ? "" : `${listed}.${found.next}`,
    pageSize: tasks.length,
    totalSize: found.total ?? (found.next === null ? listed : listed + 1),
  };
}

const NO_TASKS: TaskPage = { tasks: [], nextPageToken: "", pageSize: 0, totalSize: 0 };

type GivenList = z.output<typeof listTasksSchema>;

interface FoundRuns {
  runs: { context: Context; run: RunInfo }[];
  /** The cursor of the next page. */
  next: string | null;
  /** The number of runs on all pages, where it is known. */
  total?: number;
}

/** @throws ProblemError for an agent that does not exist */
async function findInConversations(
  request: A2ARequest,
  cursor: string | undefined,
  given: GivenList,
): Promise<FoundRuns> {
  const { services, agent } = request;
  const { tenant, owner } = await partiesOf(request);
  const caller = callerOf(request.principal);
  unwrap(await agent.team.creation());
  const page = unwrap(
    await tenantOf(services, tenant).conversationRuns({
      agent: agent.id,
      owner,
      statuses: statusesOf(given.status),
      limit: given.pageSize,
      ...(cursor !== undefined && { cursor }),
    }),
  );
  const found = await Promise.all(
    page.runs.map(async ({ id, team_id }) => {
      const team = services.gateway.team(tenant, team_id, caller);
      const [begun, result] = await Promise.all([team.conversationContext(), team.run(id)]);
      const contextId = (begun.ok ? begun.value : null) ?? team_id;
      return { context: { id: team_id, contextId, team }, result };
    }),
  );
  const passes = filterOf(given);
  const runs = found.flatMap(({ context, result }) =>
    // A conversation may have been erased in the meantime.
    result.ok && passes(result.value) ? [{ context, run: result.value }] : [],
  );
  return {
    runs: runs.toSorted(
      (one, other) => Date.parse(timeOf(other.run)) - Date.parse(timeOf(one.run)),
    ),
    next: page.next_cursor,
    // The tenant does not know when runs got their status.
    ...(given.statusTimestampAfter === undefined && { total: page.total }),
  };
}

/** A page of the runs that pass; it may have fewer than asked for although more follow. */
async function findInContext(
  { services }: A2ARequest,
  context: Context,
  start: string | undefined,
  given: GivenList,
): Promise<FoundRuns> {
  const passes = filterOf(given);
  const found: FoundRuns["runs"] = [];
  let cursor = start;
  for (let page = 0; page < MOST_PAGES && found.length < given.pageSize; page++) {
    const { runs, next_cursor } = unwrapIn(
      context,
      await context.team.runs({
        limit: Math.min(given.pageSize - found.length, services.limits.max_page_size),
        ...(cursor !== undefined && { cursor }),
      }),
    );
    found.push(...runs.filter(passes).map((run) => ({ context, run })));
    if (next_cursor === null) return { runs: found, next: null };
    cursor = next_cursor;
  }
  return { runs: found, next: cursor ?? null };
}

function filterOf({ status, statusTimestampAfter }: GivenList): (run: RunInfo) => boolean {
  const statuses = statusesOf(status);
  const since = statusTimestampAfter === undefined ? 0 : Date.parse(statusTimestampAfter);
  return (run) => statuses.includes(run.status) && Date.parse(timeOf(run)) >= since;
}

/** @throws A2AError */
function parseToken(token = ""): { cursor?: string; before: number } {
  if (token === "") return { before: 0 };
  const [, before, cursor] = /^(\d{1,9})\.([\w.~-]{1,256})$/.exec(token) ?? [];
  if (before !== undefined && cursor !== undefined) return { cursor, before: Number(before) };
  throw new A2AError("INVALID_PARAMS", INVALID_TOKEN);
}

/**
 * Encodes a native stream in the Worker. Streams are otherwise encoded where they are written, once for all; this is for
 * those that stay open while a run waits for a human. A team is unloaded meanwhile, and an encoder in it would lose what
 * it remembers.
 */
function encodedStream(
  native: ReadableStream<Uint8Array>,
  encoder: StreamEncoder,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const output = new TextEncoder();
  let text = "";
  const parser = createParser({
    onEvent: ({ event = "message", id, data }) => {
      if (encoder.ended) return;
      const frame = { event, data: JSON.parse(data) as unknown, ...(id !== undefined && { id }) };
      text += encoder.encode(frame as StreamFrame);
    },
    onComment: (comment) => {
      text += `: ${comment}\n\n`;
    },
  });
  return native.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        parser.feed(decoder.decode(bytes, { stream: true }));
        if (text !== "") controller.enqueue(output.encode(text));
        text = "";
        if (encoder.ended) controller.terminate();
      },
    }),
  );
}
