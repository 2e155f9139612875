import type { PushBody, RunChange } from "../../contract/webhooks/run-change.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import { answerOf } from "./content.ts";
import { taskId } from "./ids.ts";
import { runMetadata, statusOf } from "./task.ts";
import { shownTask } from "./v0-3/shown.ts";
import type { StreamResponse, Task } from "./wire.ts";

/** What a push notification says: of a task that asks, its status with the questions; of one that has ended, all of it. */
export function pushBody(change: RunChange): PushBody {
  return { contentType: "application/a2a+json", body: JSON.stringify(responseOf(change)) };
}

/** The same in 0.3: the task, whatever has happened. */
export function legacyPushBody(change: RunChange): PushBody {
  return { contentType: "application/json", body: JSON.stringify(shownTask(taskOf(change))) };
}

function responseOf(change: RunChange): StreamResponse {
  const task = taskOf(change);
  if (change.run.ended_at !== null) return { task };
  const { id, contextId, status, metadata } = task;
  return { statusUpdate: { taskId: id, contextId, status, metadata } };
}

function taskOf({ run, requests, answer }: RunChange): Task {
  return {
    id: taskId(run),
    contextId: run.team_id,
    status: statusOf({ ...run, requests }),
    ...(answer !== null && { artifacts: [answerOf(answer as unknown as ChatMessage)] }),
    metadata: { ...run.metadata, ...runMetadata(run) },
  };
}
