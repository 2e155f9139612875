import type { FormatCode } from "../../../../contract/stream/stream-format.ts";
import type { PushBody, RunChange } from "../../../../contract/stream/run-change.ts";
import { shownEvent, shownTask } from "./v0-3-results.ts";
import { isStoredChatMessage } from "../../shared/run-messages.ts";
import { answerOf } from "./content.ts";
import { a2aEncoder } from "./encoder.ts";
import type { A2AFormat } from "./format.ts";
import { taskId } from "../wire/ids.ts";
import { inContext, runMetadata, statusOf } from "./task.ts";
import { rpcResult, type StreamResponse, type A2ATask } from "../wire/wire.ts";

/** The writers of the streams and push notifications of each binding and version. */
export const a2aFormats: Readonly<Record<A2AFormat, FormatCode>> = {
  a2a: { makeEncoder: a2aEncoder((response, { id }) => rpcResult(id, response)), pushBody },
  "a2a-rest": { makeEncoder: a2aEncoder((response) => JSON.stringify(response)), pushBody },
  "a2a-0.3": {
    makeEncoder: a2aEncoder((response, { id }) => rpcResult(id, shownEvent(response))),
    pushBody: legacyPushBody,
  },
};

/** The body of a push notification: the status with the questions of a waiting task, or the whole ended task. */
function pushBody(change: RunChange): PushBody {
  return { contentType: "application/a2a+json", body: JSON.stringify(responseOf(change)) };
}

/** The same in 0.3: the task, whatever has happened. */
function legacyPushBody(change: RunChange): PushBody {
  return { contentType: "application/json", body: JSON.stringify(shownTask(taskOf(change))) };
}

function responseOf(change: RunChange): StreamResponse {
  const task = taskOf(change);
  if (change.run.ended_at !== null) return { task };
  const { id, contextId, status, metadata } = task;
  return { statusUpdate: { taskId: id, contextId, status, metadata } };
}

function taskOf({ run, requests, answer, context }: RunChange): A2ATask {
  const shown = inContext(run, context);
  return {
    id: taskId(run),
    contextId: shown.contextId,
    status: statusOf({ ...shown, requests }),
    ...(isStoredChatMessage(answer) && { artifacts: [answerOf(answer)] }),
    metadata: { ...run.metadata, ...runMetadata(run) },
  };
}
