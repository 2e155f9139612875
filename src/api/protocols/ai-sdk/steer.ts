import type { Idempotency } from "../../../contract/common.ts";
import type { StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import type { Problem } from "../../../contract/problem.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { sortedJson } from "../../../core/json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { unwrap } from "../../http/endpoint/problem.ts";
import type { MessageServices } from "../../http/endpoint/services.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import { readTask } from "../../http/input/task.ts";
import type { TeamConversation } from "../shared/conversation.ts";
import type { ChatRequest } from "./chat-request.ts";
import { chatFormat, HEADERS } from "./encoder/format.ts";
import { chatMessageOf, textOf } from "./task.ts";

interface SteeringChat {
  services: MessageServices;
  conversation: TeamConversation;
  request: ChatRequest;
}

/**
 * Sends the user's message into a run, and streams what follows as the next message.
 *
 * @returns the problem of a run that has ended, or of a message that was sent before with another content
 * @throws ProblemError
 */
export async function steer(
  { conversation, request, services }: SteeringChat,
  run: RunInfo,
): Promise<Response | Problem> {
  const { message, path } = request;
  const content = textOf(message, path);
  const to = { team: conversation.team };
  const task = await readTask(chatMessageOf(message, path), services, to);
  const sent = await conversation.steer(run, content, await idempotencyOf(request, task));
  if (!sent.ok) {
    const { code } = sent.problem;
    if (code === "run_ended" || code === "idempotency_mismatch") return sent.problem;
  }
  const { id, cursor } = unwrap(sent);
  const stream = { after: cursor, format: chatFormat({ part: "new", message: id }) };
  return streamAnswer(unwrap(await conversation.follow(run.id, stream)), HEADERS);
}

/** A message starts one run, or goes into one, however often it is sent. */
export async function idempotencyOf(
  { id: chat, message }: ChatRequest,
  task: StartRunInput["task"],
): Promise<Idempotency> {
  return {
    key: `ai-sdk-${await sha256Hex(JSON.stringify([chat, message.id]))}`,
    hash: await sha256Hex(sortedJson(task)),
  };
}
