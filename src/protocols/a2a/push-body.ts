import type { PushBody, RunChange } from "../../contract/webhooks/run-change.ts";
import type { ChatMessage } from "../../core/messages/message.ts";
import { answerOf } from "./content.ts";
import { taskId } from "./ids.ts";
import { runMetadata, statusOf } from "./task.ts";
import type { StreamResponse } from "./wire.ts";

const MEDIA_TYPE = "application/a2a+json";

/** What a push notification says: of a task that asks, its status with the questions; of one that has ended, all of it. */
export function pushBody(change: RunChange): PushBody {
  return { contentType: MEDIA_TYPE, body: JSON.stringify(responseOf(change)) };
}

function responseOf({ run, requests, answer }: RunChange): StreamResponse {
  const about = { taskId: taskId(run), contextId: run.team_id };
  const status = statusOf({ ...run, requests });
  const metadata = { ...run.metadata, ...runMetadata(run) };
  if (run.ended_at === null) return { statusUpdate: { ...about, status, metadata } };
  const artifacts = answer === null ? undefined : [answerOf(answer as unknown as ChatMessage)];
  const { taskId: id, contextId } = about;
  return { task: { id, contextId, status, ...(artifacts && { artifacts }), metadata } };
}
