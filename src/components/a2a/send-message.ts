import type { JsonObject } from "../../core/json.ts";
import { contextMembers, stepHeaders } from "../../core/steps/hops.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { A2AError } from "./a2a-error.ts";
import type { RemoteInterface } from "./agent-card.ts";
import type { RemoteAgent } from "./connection.ts";
import { abandonTask, afterReply, CANCEL_MS, type LeftTask } from "./left-task.ts";
import {
  hasGoneOn,
  hasMessage,
  readReply,
  readTask,
  type RefusedReply,
  type RemoteTask,
  type Reply,
} from "./remote-task.ts";

/** A message and its destination. */
export interface Sending {
  agent: RemoteAgent;
  at: RemoteInterface;
  message: JsonObject & { messageId: string };
  /** The state of the work before the answer. */
  work: LeftTask;
  /** The task that it answers. */
  asked: RemoteTask | undefined;
  /** True if it may have been sent before. */
  again: boolean;
  /** Milliseconds. */
  timeoutMs: number;
}

type Sent = Parameters<RemoteAgent["call"]>[3];

/**
 * Sends a message without waiting for its task. An answer to a question is sent once: if it may have been sent before,
 * or is refused, the state of the task shows whether it has continued. A run that is cancelled meanwhile waits a little
 * for the task that has begun, and abandons it.
 *
 * @throws A2AError if it is unknown whether the message has arrived
 */
export async function sendMessage(
  sending: Sending,
  attempt: StepAttempt,
): Promise<Reply | RefusedReply> {
  const { agent, work } = sending;
  const { signal } = attempt;
  signal.throwIfAborted();
  const left = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const leave = (): void => {
    timer = setTimeout(() => left.abort(signal.reason), CANCEL_MS);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    const reply = await send(sending, { ...attempt, signal: left.signal });
    if (signal.aborted) await abandonTask(agent, afterReply(work, reply), attempt);
    signal.throwIfAborted();
    return reply;
  } finally {
    signal.removeEventListener("abort", leave);
    clearTimeout(timer);
  }
}

async function send(
  sending: Sending,
  { signal, idempotencyKey, ...context }: StepAttempt,
): Promise<Reply | RefusedReply> {
  const { agent, at, message, again, timeoutMs } = sending;
  const late = AbortSignal.timeout(timeoutMs);
  const sent: Sent = { signal: AbortSignal.any([signal, late]) };
  const configuration = {
    returnImmediately: true,
    acceptedOutputModes: ["text/plain", "application/json"],
  };
  try {
    const task = again ? await taskSince(sending, sent) : undefined;
    if (task !== undefined) return { task };
    const headers = stepHeaders({ idempotencyKey, ...context });
    const metadata: JsonObject =
      context.hops === undefined ? {} : { metadata: contextMembers(context) };
    const params = { message: { ...message, ...metadata }, configuration };
    return readReply(await agent.call(at, "SendMessage", params, { ...sent, headers }));
  } catch (error) {
    if (late.aborted && !signal.aborted) {
      throw new A2AError("a2a_timeout", `"${new URL(at.url).host}" did not answer in time.`);
    }
    if (!(error instanceof A2AError) || error.code !== "a2a_refused") throw error;
    // A task that already has an answer, from here or from elsewhere, refuses another one.
    const task = await taskSince(sending, sent).catch((failure: unknown) => {
      if (failure instanceof A2AError) return undefined;
      throw failure;
    });
    return task === undefined ? { refused: error.message } : { task };
  }
}

/**
 * The task that had asked a question, if it has continued since. @throws A2AError while it has the answer and still
 * asks
 */
async function taskSince(
  { agent, at, message: { messageId }, asked }: Sending,
  sent: Sent,
): Promise<RemoteTask | undefined> {
  if (asked === undefined) return undefined;
  const now = await agent.call(at, "GetTask", { id: asked.id }, sent);
  const task = readTask(now);
  if (hasGoneOn(task, asked)) return task;
  if (!hasMessage(now, messageId)) return undefined;
  const host = new URL(at.url).host;
  throw new A2AError("a2a_connection", `"${host}" has the answer and has not gone on with it yet.`);
}
