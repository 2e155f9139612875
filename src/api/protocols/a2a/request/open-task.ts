import type { RunInfo } from "../../../../contract/run.ts";
import { readTask } from "../../../http/input/task.ts";
import { TeamConversation } from "../../shared/conversation.ts";
import { A2AError } from "../wire/errors.ts";
import { chatMessageOf } from "./chat-message.ts";
import { findTask, type TaskAddress, unwrapIn } from "./contexts.ts";
import { idempotencyOf } from "./idempotency.ts";
import type { SentMessage } from "./params.ts";
import { type A2ARequest, needs } from "./services.ts";

/** A task that a message is for. */
export interface OpenTask {
  address: TaskAddress;
  run: RunInfo;
}

/** The task that a message names: it asks something, or works. @throws A2AError */
export async function openTask(
  request: A2ARequest,
  { taskId = "", contextId = "" }: SentMessage,
): Promise<OpenTask> {
  const address = await findTask(request, taskId);
  const run = unwrapIn(address, await address.team.run(address.run));
  if (contextId !== "" && contextId !== address.contextId && contextId !== address.id) {
    throw new A2AError(
      "INVALID_PARAMS",
      `message.contextId must be left out or ${JSON.stringify(address.contextId)}, the context of the task`,
    );
  }
  if (run.ended_at !== null) throw ended(run.status);
  return { address, run };
}

/** Sends a message into a task that works. @returns the cursor behind it @throws A2AError or ProblemError */
export async function steerTask(
  request: A2ARequest,
  message: SentMessage,
  { address, run }: OpenTask,
): Promise<number> {
  needs(request, "runs:write");
  const said = chatMessageOf(message);
  if (typeof said.content !== "string") {
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", "A message to a working task must be text.");
  }
  await readTask(said, request.services, { team: address.team });
  const conversation = new TeamConversation(address.team, request.services, request.principal);
  const sent = await conversation.steer(run, said.content, await idempotencyOf(message));
  if (!sent.ok && sent.problem.code === "run_ended") {
    throw ended(unwrapIn(address, await address.team.run(address.run)).status);
  }
  return unwrapIn(address, sent).cursor;
}

function ended(status: RunInfo["status"]): A2AError {
  return new A2AError(
    "UNSUPPORTED_OPERATION",
    `The task is ${status}: a message without taskId starts another one.`,
  );
}
