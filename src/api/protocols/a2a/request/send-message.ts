import type { OpenedStream, StartRunInput } from "../../../../contract/gateways/team-gateway.ts";
import type { SecretPushConfig } from "../../../../contract/push.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { askerOf } from "../../../http/access/access-control.ts";
import { readTask } from "../../../http/input/task.ts";
import { hopsOf } from "../../../http/input/call.ts";
import { checkMetadata } from "../../../http/input/body.ts";
import { TeamConversation, type NewRunOptions } from "../../shared/conversation.ts";
import { type Context, contextOf, type TaskAddress, unwrapIn } from "./contexts.ts";
import { formatOf } from "../encoder/format.ts";
import { answersOf } from "./given-answers.ts";
import { chatMessageOf } from "./chat-message.ts";
import { type SentMessage, parseParams, sendMessageSchema } from "./params.ts";
import { idempotencyOf } from "./idempotency.ts";
import { openTask, steerTask } from "./open-task.ts";
import { pushConfigOf } from "./push-configs.ts";
import { type A2ARequest, mayRead, needs } from "./services.ts";
import { readTask as shownTask } from "./tasks.ts";
import { bareTaskOf, type HistoryLength, inContext, taskOf } from "../encoder/task.ts";
import type { A2ATask } from "../wire/wire.ts";

interface Sent {
  message: SentMessage;
  metadata: JsonObject;
  historyLength: HistoryLength;
  /** True if the response does not wait for the task. */
  atOnce: boolean;
  push: SecretPushConfig | undefined;
}

/** `SendMessage`: starts a task, answers what a task asks, or speaks to a task that works. @throws A2AError or ProblemError */
export async function sendMessage(
  request: A2ARequest,
  params: unknown,
): Promise<{ task: A2ATask }> {
  const sent = parseSent(request, params);
  const { message, atOnce, historyLength } = sent;
  const { services } = request;
  let context: Context;
  let run: RunInfo;
  if (isNew(message)) {
    needs(request, "runs:write");
    const { task, options } = await runOf(request, sent);
    context = await contextOf(request, message);
    const conversation = new TeamConversation(context.team, services, request.principal);
    run = unwrapIn(context, await conversation.startAlone(task, options));
  } else {
    needs(request, "requests:write");
    const { address, run: found } = await openTask(request, message);
    context = address;
    if (found.requests.length === 0) {
      await steerTask(request, message, { address, run: found });
      await addPush(address, sent);
      run = unwrapIn(address, await address.team.run(address.run));
    } else {
      const answers = answersOf(message, found.requests);
      await addPush(address, sent);
      const conversation = new TeamConversation(address.team, services, request.principal);
      run = unwrapIn(address, await conversation.answer(address.run, answers));
    }
    if (!mayRead(request)) return { task: bareTaskOf(inContext(run, context.contextId)) };
  }
  if (atOnce) return { task: taskOf(inContext(run, context.contextId), historyLength) };
  const most = services.limits.max_wait_seconds * 1000;
  const ended = unwrapIn(context, await context.team.waitForRun(run.id, most));
  return { task: await shownTask(request, context, ended, historyLength) };
}

/** `SendStreamingMessage`. @throws A2AError or ProblemError */
export async function sendStreamingMessage(
  request: A2ARequest,
  params: unknown,
): Promise<OpenedStream> {
  const sent = parseSent(request, params);
  const { message, historyLength } = sent;
  const { services } = request;
  if (isNew(message)) {
    needs(request, "runs:write");
    const { task, options } = await runOf(request, sent);
    const context = await contextOf(request, message);
    const format = formatOf(request, { contextId: context.contextId, historyLength });
    const conversation = new TeamConversation(context.team, services, request.principal);
    return unwrapIn(context, await conversation.start(task, options, format));
  }
  needs(request, "requests:write");
  if (!mayRead(request)) needs(request, "runs:read");
  const { address, run } = await openTask(request, message);
  if (run.requests.length === 0) {
    const after = await steerTask(request, message, { address, run });
    await addPush(address, sent);
    const format = formatOf(request, { contextId: address.contextId, historyLength });
    return unwrapIn(address, await address.team.stream({ run: run.id, after, format }));
  }
  const answers = answersOf(message, run.requests);
  await addPush(address, sent);
  const answering = answers.map((one) => one.request);
  const { contextId } = address;
  const stream = { after: 0, format: formatOf(request, { contextId, historyLength, answering }) };
  const conversation = new TeamConversation(address.team, services, request.principal);
  return unwrapIn(address, await conversation.continue(address.run, answers, stream));
}

/** @throws A2AError or ProblemError */
function parseSent(request: A2ARequest, params: unknown): Sent {
  const { services } = request;
  const { message, configuration, metadata } = parseParams(sendMessageSchema, params);
  const { historyLength, returnImmediately, taskPushNotificationConfig } = configuration;
  const pushConfig = taskPushNotificationConfig ?? undefined;
  checkMetadata(metadata, services.limits);
  const push =
    pushConfig && pushConfigOf(request, pushConfig, "configuration.taskPushNotificationConfig.");
  return { message, metadata, historyLength, atOnce: returnImmediately, push };
}

/** @throws ProblemError */
async function addPush(address: TaskAddress, { push }: Sent): Promise<void> {
  if (push !== undefined) unwrapIn(address, await address.team.putPushConfig(address.run, push));
}

function isNew({ taskId = "" }: SentMessage): boolean {
  return taskId === "";
}

async function runOf(
  { services, agent, principal, headers }: A2ARequest,
  { message, metadata, push }: Sent,
): Promise<{ task: StartRunInput["task"]; options: NewRunOptions }> {
  const task = await readTask(chatMessageOf(message), services, { team: agent.team });
  const idempotency = await idempotencyOf(message);
  const hops = hopsOf(headers, { path: "message.metadata", value: message.metadata });
  const options: NewRunOptions = {
    ...askerOf(principal),
    on_conflict: "queue",
    metadata,
    ...hops,
    ...(push && { push }),
  };
  return { task, options: { ...options, idempotency } };
}
