import type {
  Idempotency,
  OpenedStream,
  StartRunInput,
} from "../../../contract/gateways/team-gateway.ts";
import type { SecretPushConfig } from "../../../contract/webhooks/push.ts";
import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import type { JsonObject } from "../../../core/json.ts";
import { sortedJson } from "../../../core/json.ts";
import { sha256Hex } from "../../../core/sha256.ts";
import { parseAnswer, parseTask } from "../../../http/input/task.ts";
import { checkMetadata } from "../../../http/input/team-input.ts";
import { unwrap } from "../../../http/problem.ts";
import { newRun } from "../../new-run.ts";
import { A2AError } from "../errors.ts";
import { formatOf } from "../format.ts";
import { answersOf, type GivenAnswer } from "./given-answers.ts";
import { chatMessageOf } from "./given-parts.ts";
import { type GivenMessage, parseParams, sendMessageSchema, taskIdOf } from "./params.ts";
import { pushConfigOf } from "./push-configs.ts";
import { type A2ARequest, mayRead, needs } from "./services.ts";
import { readTask } from "../tasks.ts";
import { bareTaskOf, type HistoryLength, taskOf } from "../task.ts";
import type { Task } from "../wire.ts";

interface Sent {
  message: GivenMessage;
  metadata: JsonObject;
  historyLength: HistoryLength;
  /** Whether the response does not wait for the task. */
  atOnce: boolean;
  push: SecretPushConfig | undefined;
}

/** `SendMessage`: starts a task, or answers what a task asks. @throws A2AError or ProblemError */
export async function sendMessage(request: A2ARequest, params: unknown): Promise<{ task: Task }> {
  const sent = parseSent(request, params);
  const { message, atOnce, historyLength } = sent;
  const { team, services } = request;
  let run: RunInfo;
  if (isNew(message)) {
    needs(request, "runs:write");
    run = unwrap(await team.startRun(await runOf(request, sent)));
  } else {
    needs(request, "requests:write");
    const { id, open } = await waitingRun(request, message);
    const answers = answersOf(message, open);
    await addPush(request, id, sent);
    run = await answer(request, id, answers);
    if (!mayRead(request)) return { task: bareTaskOf(run) };
  }
  if (atOnce) return { task: taskOf(run, historyLength) };
  const ended = unwrap(await team.waitForRun(run.id, services.limits.max_wait_seconds * 1000));
  return { task: await readTask(request, ended, historyLength) };
}

/** `SendStreamingMessage`. @throws A2AError or ProblemError */
export async function sendStreamingMessage(
  request: A2ARequest,
  params: unknown,
): Promise<OpenedStream> {
  const sent = parseSent(request, params);
  const { message, historyLength } = sent;
  const { team } = request;
  if (isNew(message)) {
    needs(request, "runs:write");
    const started = await team.startStream(
      await runOf(request, sent),
      formatOf(request.id, { historyLength }),
    );
    return unwrap(started);
  }
  needs(request, "requests:write");
  if (!mayRead(request)) needs(request, "runs:read");
  const { id, open } = await waitingRun(request, message);
  const answers = answersOf(message, open);
  await addPush(request, id, sent);
  // Opened before the answers are given, so that nothing is missed.
  const opened = unwrap(
    await team.stream({
      run: id,
      after: 0,
      format: formatOf(request.id, {
        historyLength,
        answering: answers.map((one) => one.request),
      }),
    }),
  );
  try {
    await answer(request, id, answers);
  } catch (error) {
    if ("body" in opened) await opened.body.cancel();
    throw error;
  }
  return opened;
}

/** @throws A2AError or ProblemError */
function parseSent(request: A2ARequest, params: unknown): Sent {
  const { services, teamId } = request;
  const { message, configuration, metadata } = parseParams(sendMessageSchema, params);
  const { historyLength, returnImmediately, taskPushNotificationConfig } = configuration;
  const given = taskPushNotificationConfig ?? undefined;
  const { contextId = "" } = message;
  if (contextId !== "" && contextId !== teamId) {
    throw new A2AError(
      "INVALID_PARAMS",
      `message.contextId must be left out or ${JSON.stringify(teamId)}: the team is one conversation`,
    );
  }
  checkMetadata(metadata, services.limits);
  const push = given && pushConfigOf(request, given, "configuration.taskPushNotificationConfig.");
  return { message, metadata, historyLength, atOnce: returnImmediately, push };
}

/** @throws ProblemError */
async function addPush({ team }: A2ARequest, id: string, { push }: Sent): Promise<void> {
  if (push !== undefined) unwrap(await team.putPushConfig(id, push));
}

function isNew({ taskId = "" }: GivenMessage): boolean {
  return taskId === "";
}

async function runOf(
  { services }: A2ARequest,
  { message, metadata, push }: Sent,
): Promise<StartRunInput> {
  return newRun(parseTask(chatMessageOf(message), services.limits), {
    on_conflict: "queue",
    metadata,
    ...(push && { push }),
    idempotency: await idempotencyOf(message),
  });
}

/** The same message again finds the same task. */
async function idempotencyOf(message: GivenMessage): Promise<Idempotency> {
  return {
    key: `a2a-${await sha256Hex(message.messageId)}`,
    hash: await sha256Hex(sortedJson(message)),
  };
}

/** The run that a message answers, with its open questions. @throws A2AError or ProblemError */
async function waitingRun(
  { team }: A2ARequest,
  { taskId = "" }: GivenMessage,
): Promise<{ id: string; open: readonly HumanRequest[] }> {
  const { id, status, requests } = unwrap(await team.run(taskIdOf(taskId)));
  if (requests.length > 0) return { id, open: requests };
  throw new A2AError(
    "UNSUPPORTED_OPERATION",
    `The task is ${status} and asks nothing: a message without taskId starts another one.`,
  );
}

/** @throws ProblemError */
async function answer(
  { team, services }: A2ARequest,
  id: string,
  answers: readonly GivenAnswer[],
): Promise<RunInfo> {
  let run: RunInfo | undefined;
  for (const { request, answer: given } of answers) {
    run = unwrap(await team.answer(id, request, parseAnswer(given, services.limits)));
  }
  return run as RunInfo;
}
