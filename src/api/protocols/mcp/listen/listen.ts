import type {
  ClientCapabilities,
  RequestId,
  SubscriptionFilter,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { RunInfo } from "../../../../contract/run.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { json } from "../../../http/endpoint/endpoint.ts";
import { internalErrorLine, problemOf } from "../../../http/endpoint/problem.ts";
import { followRun } from "../session/follow-run.ts";
import { detailedTask, placeOfTask, type McpTaskAddress, TASKS } from "../run/task.ts";
import { mayAnswer } from "../run/wait-for-run.ts";
import { canShowForms } from "../session/session.ts";
import { type McpRequest, teamOf } from "../session/services.ts";
import { threadOf } from "../resources/threads.ts";
import { openLists } from "./list-changes.ts";
import { NotificationStream } from "./notification-stream.ts";

/** Tasks and threads of one subscription. */
const MOST_SUBJECTS = 50;

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

const subjects = z.array(z.string().max(500)).max(MOST_SUBJECTS).default([]);
const filterSchema = z.object({ taskIds: subjects, resourceSubscriptions: subjects });

/** A request for notifications. */
export interface ListenRequest {
  id: RequestId;
  params: JsonObject;
}

/**
 * Answers `subscriptions/listen` with a stream of what the client asked for and may see. The SDK has checked the request and knows
 * neither tasks nor where notifications come from: of its own stream, only the first message counts.
 *
 * @param accepted the SDK's answer, which may refuse the method
 * @param client aborted when the client has left
 */
export async function listen(
  request: McpRequest,
  { id, params }: ListenRequest,
  accepted: Response,
  client: AbortSignal,
): Promise<Response> {
  const honored = await acknowledgedBy(accepted.clone());
  // The revisions with sessions do not know the method.
  if (honored === undefined) return accepted;
  await accepted.body?.cancel();
  const asked = isJsonObject(params.notifications) ? params.notifications : {};
  const parsed = filterSchema.safeParse(asked);
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path[0] as string;
    const message = `Invalid params: notifications.${field} must be a list of at most ${MOST_SUBJECTS} texts`;
    return json({ jsonrpc: "2.0", id, error: { code: -32_602, message } }, 400);
  }
  const capabilities = capabilitiesOf(params);
  if ("taskIds" in asked && capabilities?.extensions?.[TASKS] === undefined)
    return json(missingTasks(id), 400);
  const mayRead = request.principal.scopes.includes("teams:read");
  const tasks = await findTasks(request, parsed.data.taskIds);
  const threads = mayRead ? await findThreads(request, parsed.data.resourceSubscriptions) : [];
  const notifications: SubscriptionFilter & { taskIds?: string[] } = {
    ...(mayRead && honored.toolsListChanged && { toolsListChanged: true }),
    ...(mayRead && honored.resourcesListChanged && { resourcesListChanged: true }),
    ...(threads.length > 0 && { resourceSubscriptions: threads.map(({ uri }) => uri) }),
    ...(tasks.length > 0 && { taskIds: tasks.map(({ taskId }) => taskId) }),
  };
  const { toolsListChanged, resourcesListChanged } = notifications;
  const follows = toolsListChanged === true || resourcesListChanged === true || threads.length > 0;
  const stream = new NotificationStream(client);
  // Opened before the acknowledgement, after which nothing is missed.
  const changes = follows
    ? await openLists(request, stream.signal).catch((error: unknown) => {
        stream.end();
        throw error;
      })
    : undefined;
  const _meta = { [SUBSCRIPTION]: id };
  const notification = (method: string, more: JsonObject = {}): JsonObject => ({
    method: `notifications/${method}`,
    params: { ...more, _meta },
  });
  const notify = (method: string, more?: JsonObject): void =>
    stream.send(notification(method, more));
  // Results can be large: each is sent when the client has read those before.
  const showTask = (task: JsonObject): Promise<void> =>
    stream.sendLater(notification("tasks", task));
  notify("subscriptions/acknowledged", { notifications: { ...notifications } as JsonObject });
  const forms = mayAnswer(request) && canShowForms(capabilities);
  const ended = Promise.all(
    tasks.map((task) => followTask(request, task, { forms, showTask, signal: stream.signal })),
  );
  const lists = changes
    ? changes({
        onList: () => {
          if (toolsListChanged) notify("tools/list_changed");
          if (resourcesListChanged) notify("resources/list_changed");
        },
        onThread: (team) => {
          for (const thread of threads)
            if (thread.team === team) notify("resources/updated", { uri: thread.uri });
        },
      })
    : untilOver(stream.signal);
  // One that has only tasks ends with the last of them.
  const isOver =
    tasks.length > 0 && !follows ? ended : Promise.race([lists, ended.then(() => lists)]);
  void isOver
    // A deletion or revocation in the meantime ends the stream: the next subscription leaves the resource out.
    .catch((error: unknown) => {
      if (problemOf(error) === undefined) request.services.log(internalErrorLine(error));
    })
    .then(() => stream.sendLater({ id, result: { resultType: "complete", _meta } }))
    .then(() => stream.end());
  return stream.response;
}

/** A subscription to nothing stays open, too. */
async function untilOver(signal: AbortSignal): Promise<void> {
  await new Promise((over) => signal.addEventListener("abort", over));
}

/** The filter that the SDK acknowledges; undefined if it refuses. Its stream ends with that. */
async function acknowledgedBy({ body }: Response): Promise<SubscriptionFilter | undefined> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  const [, data = ""] = /^data: (.*)$/m.exec(new TextDecoder().decode(first?.value)) ?? [];
  const { params } = JSON.parse(data) as { params?: { notifications: SubscriptionFilter } };
  return params?.notifications;
}

function capabilitiesOf({ _meta: meta }: JsonObject): ClientCapabilities | undefined {
  return isJsonObject(meta) ? (meta[CAPABILITIES] as ClientCapabilities | undefined) : undefined;
}

function missingTasks(id: RequestId): object {
  const data = { requiredCapabilities: { extensions: { [TASKS]: {} } } };
  const message = `Missing required client capability: notifications.taskIds needs extensions["${TASKS}"]`;
  return { jsonrpc: "2.0", id, error: { code: -32_021, message, data } };
}

interface FoundTask extends McpTaskAddress {
  taskId: string;
  info: RunInfo;
}

/** Those that exist and that the caller may see, each once. */
async function findTasks(request: McpRequest, ids: readonly string[]): Promise<FoundTask[]> {
  const { only, principal } = request;
  if (!["runs:read", "runs:write"].some((scope) => principal.scopes.some((one) => one === scope)))
    return [];
  const found = await Promise.all(
    [...new Set(ids)].map(async (taskId) => {
      const address = placeOfTask(taskId);
      if (address === undefined || (only !== undefined && only.id !== address.team)) return [];
      const run = await teamOf(request, address.team).run(address.run);
      return run.ok ? [{ ...address, taskId, info: run.value }] : [];
    }),
  );
  return found.flat();
}

interface FoundThread {
  uri: string;
  team: string;
}

/** The threads of existing teams, without duplicates. */
async function findThreads(request: McpRequest, uris: readonly string[]): Promise<FoundThread[]> {
  const found = await Promise.all(
    [...new Set(uris)].map(async (uri) => {
      const team = threadOf(request, uri);
      if (team === undefined) return [];
      return (await teamOf(request, team).team()).ok ? [{ uri, team }] : [];
    }),
  );
  return found.flat();
}

/** Sends the task as it is, and whenever its run changes, as `tasks/get` shows it. */
async function followTask(
  request: McpRequest,
  { team, run, info }: FoundTask,
  {
    forms,
    showTask,
    signal,
  }: {
    forms: boolean;
    showTask: (task: JsonObject) => Promise<void>;
    signal: AbortSignal;
  },
): Promise<void> {
  let sent = "";
  const show = async (now: RunInfo): Promise<void> => {
    const task = (await detailedTask(request, now, forms)) as JsonObject;
    const { pollIntervalMs: _, ...state } = task;
    if (JSON.stringify(state) === sent) return;
    sent = JSON.stringify(state);
    await showTask(task);
  };
  await show(info);
  if (info.ended_at !== null) return;
  await followRun(teamOf(request, team), run, {
    signal,
    budget: request.budget,
    onItem: () => Promise.resolve(),
    onRun: async (now) => {
      if (now.ended_at === null) await show(now);
      return now.ended_at === null;
    },
  });
  if (signal.aborted || request.budget.signal.aborted) return;
  // The result has what was said, which the stream's run does not.
  const ended = await teamOf(request, team).run(run);
  if (ended.ok) await show(ended.value);
}
