import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { humanSources } from "../../../../core/messages/human-sources.ts";
import type { Message } from "../../../../core/messages/message.ts";
import { isChatMessage } from "../../../../core/messages/views.ts";
import { taskMessages } from "../../shared/run-messages.ts";
import { questionText } from "../../shared/question-text.ts";
import { taskId } from "../wire/ids.ts";
import { camelKey } from "../wire/normal-json.ts";
import { answerOf, JSON_TYPE, messageOf, textPart } from "./content.ts";
import type { A2AMessage, A2APart, A2ATask, TaskState, TaskStatus } from "../wire/wire.ts";

const STATES: Readonly<Record<RunInfo["status"], TaskState>> = {
  queued: "TASK_STATE_SUBMITTED",
  running: "TASK_STATE_WORKING",
  waiting: "TASK_STATE_INPUT_REQUIRED",
  paused: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  cancelled: "TASK_STATE_CANCELED",
  failed: "TASK_STATE_FAILED",
};

export function stateOf(status: RunInfo["status"]): TaskState {
  return STATES[status];
}

/** The runs that a state stands for; without one, all. */
export function statusesOf(state = "TASK_STATE_UNSPECIFIED"): RunInfo["status"][] {
  const statuses = Object.keys(STATES) as RunInfo["status"][];
  if (state === "TASK_STATE_UNSPECIFIED") return statuses;
  return statuses.filter((status) => STATES[status] === state);
}

/** Messages of a task's history: 0 for none, undefined for all. */
export type HistoryLength = number | undefined;

/** A run, with the `contextId` that its caller knows its conversation by. */
export type RunInContext = RunInfo & { contextId: string };

export function inContext<Run extends Pick<RunInfo, "team_id">>(
  run: Run,
  contextId: string = run.team_id,
): Run & { contextId: string } {
  return { ...run, contextId };
}

/**
 * A run as a task: the messages it was given and was answered with, and its answer as the artifact.
 *
 * @param soFar what was said in a run that has no result yet
 */
export function taskOf(
  run: RunInContext,
  historyLength?: HistoryLength,
  soFar: readonly Message[] = [],
): A2ATask {
  const taskInput = taskMessages(run);
  const knownIds = new Set(taskInput.map(({ id }) => id));
  const said = (run.result?.messages ?? soFar).filter(({ id }) => !knownIds.has(id));
  const humans = humanSources(said);
  const messages = said.filter(isChatMessage);
  const answer = run.result?.messages && messages.findLast(({ source }) => !humans.has(source));
  const history = [
    ...taskInput.map((message) => messageOf(run, message, "ROLE_USER")),
    ...messages
      .filter((message) => message !== answer)
      .map((one) => messageOf(run, one, humans.has(one.source) ? "ROLE_USER" : "ROLE_AGENT")),
  ];
  return {
    id: taskId(run),
    contextId: run.contextId,
    status: statusOf(run),
    ...(answer !== undefined && { artifacts: [answerOf(answer)] }),
    ...historyPart(history, historyLength),
    metadata: { ...run.metadata, ...runMetadata(run) },
  };
}

function historyPart(history: A2AMessage[], length: HistoryLength): { history?: A2AMessage[] } {
  const last = length === undefined ? history : history.slice(Math.max(0, history.length - length));
  return last.length === 0 ? {} : { history: last };
}

/** A task as callers see it that may only answer its questions. */
export function bareTaskOf(run: RunInContext): A2ATask {
  const { state, timestamp } = statusOf(run);
  return {
    id: taskId(run),
    contextId: run.contextId,
    status: { state, ...(timestamp !== undefined && { timestamp }) },
    metadata: {},
  };
}

/** The fields of a run that its status is made from. */
export type StatusOfRun = Pick<
  RunInfo,
  "id" | "team_id" | "status" | "created_at" | "started_at" | "ended_at"
> & {
  contextId: string;
  error: { type: string; message: string } | null;
  requests: readonly AskedRequest[];
};

type AskedRequest = Omit<HumanRequest, "context">;

export function statusOf(run: StatusOfRun): TaskStatus {
  const message = statusMessage(run);
  return {
    state: stateOf(run.status),
    ...(message !== undefined && { message }),
    timestamp: timeOf(run),
  };
}

/** When the run got its status, as far as it is known. */
export function timeOf(run: Omit<StatusOfRun, "contextId">): string {
  const asked = run.status === "waiting" ? run.requests.map(({ created_at }) => created_at) : [];
  return run.ended_at ?? asked.toSorted().at(-1) ?? run.started_at ?? run.created_at;
}

function statusMessage(run: StatusOfRun): A2AMessage | undefined {
  if (run.status === "waiting" && run.requests.length > 0) return questionsOf(run);
  if (run.error === null) return undefined;
  return agentMessage(run, `${run.id}-error`, [textPart(run.error.message)], {
    "troupe/error": { ...run.error },
  });
}

export function agentMessage(
  run: Pick<RunInContext, "id" | "team_id" | "contextId">,
  messageId: string,
  parts: A2APart[],
  metadata?: JsonObject,
): A2AMessage {
  return {
    messageId,
    contextId: run.contextId,
    taskId: taskId(run),
    role: "ROLE_AGENT",
    parts,
    ...(metadata && { metadata }),
  };
}

/** The open questions of a run: each as a text for the human and as data that its answer refers to. */
function questionsOf(run: StatusOfRun): A2AMessage {
  const parts = run.requests.flatMap((request) => [
    textPart(questionText(request)),
    { data: questionData(request), mediaType: JSON_TYPE },
  ]);
  return agentMessage(run, run.requests.map(({ id }) => id).join("."), parts);
}

function questionData({ id, kind, source, prompt, code, tool_call }: AskedRequest): JsonObject {
  return {
    request_id: id,
    kind,
    source,
    prompt,
    ...(code !== undefined && { code }),
    ...(tool_call !== undefined && { tool_call }),
  };
}

export function runMetadata({
  status,
  stop_reason,
  usage,
}: Pick<RunInfo, "status" | "stop_reason" | "usage">): JsonObject {
  const counts = Object.entries(usage).map(([name, count]) => [camelKey(name), count]);
  return {
    "troupe/status": status,
    "troupe/stop_reason": stop_reason,
    "troupe/usage": Object.fromEntries(counts) as JsonObject,
  };
}
