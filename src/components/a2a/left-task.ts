import { hash64 } from "../../core/hash.ts";
import { isJsonObject } from "../../core/json.ts";
import type { CancelledWork, RemoteWork } from "../../core/steps/remote-work.ts";
import type { StepAttempt } from "../../core/steps/step-attempt.ts";
import { A2AError } from "./a2a-error.ts";
import type { RemoteInterface } from "./agent-card.ts";
import type { A2AAgentConfig } from "./config.ts";
import type { RemoteAgent } from "./connection.ts";
import {
  hasEnded,
  hasMessage,
  readTask,
  type RefusedReply,
  type RemoteTask,
  type Reply,
} from "./remote-task.ts";

/** The longest wait of a cancelled run for the answer to its message, and for that to a cancellation. */
export const CANCEL_MS = 5_000;
/** The number of tasks among which one is looked for whose id is unknown. */
const MOST_LISTED = 50;
/**
 * Answers to a cancellation that no other attempt changes: HTTP statuses, and codes of JSON-RPC for a task that does not exist or cannot be
 * cancelled, and for an agent that does not know the method.
 */
const FINAL: ReadonlySet<number | undefined> = new Set([
  404, 405, 410, 501, -32_001, -32_002, -32_004, -32_601,
]);

/** Work at a remote agent: a task, or a message that may have begun one. */
export interface LeftTask extends RemoteWork {
  task: {
    at: { url: string; streaming: boolean; tenant: string };
    /** Missing while the message has no answer. */
    id?: string;
    message: string;
    /** Empty before the agent's first answer. */
    context: string;
  };
}

/** The work that a message begins, as long as it has no answer. @param attempt at a step of one round of the agent */
export function askedTask(
  config: Pick<A2AAgentConfig, "name" | "url">,
  { scope: round = "" }: Pick<StepAttempt, "scope">,
  { at, message, context }: { at: RemoteInterface; message: string; context: string },
): LeftTask {
  const scope = round.slice(0, Math.max(0, round.lastIndexOf("/")));
  const task = { at: { ...at }, message, context };
  return { id: message, agent: nameOf(config), scope, order: 0, state: "asked", task };
}

/** True if an agent with this config has begun the work. */
export function isLeftBy(
  config: Pick<A2AAgentConfig, "name" | "url">,
  work: RemoteWork,
): work is LeftTask {
  return work.agent === nameOf(config);
}

/** Not the URL itself, which may have secrets. */
function nameOf({ name, url }: Pick<A2AAgentConfig, "name" | "url">): string {
  return `${name} ${hash64(url)}`;
}

/** The state of the work after an answer of the agent: to its message, or about the task. */
export function afterReply(work: LeftTask, reply: Reply | RefusedReply): LeftTask {
  const order = work.order + 1;
  if ("task" in reply) return withTask(work, reply.task);
  // A message or an error comes instead of a task, or leaves one as it is that has asked.
  return work.state === "asked" ? { ...work, order, state: "over" } : { ...work, order };
}

export function withTask(work: LeftTask, { id, state }: RemoteTask): LeftTask {
  const order = work.order + 1;
  return {
    ...work,
    order,
    state: hasEnded(state) ? "over" : "begun",
    task: { ...work.task, id },
  };
}

/** The run no longer needs the work: its host has it cancelled. Without such a host, only this process can cancel it. */
export async function abandonTask(
  agent: RemoteAgent,
  work: LeftTask,
  { abandon }: Pick<StepAttempt, "abandon">,
): Promise<void> {
  if (abandon !== undefined) return abandon(work);
  // A failure cannot be reported any more, because the caller has left.
  await cancelLeftTask(agent, work, AbortSignal.timeout(CANCEL_MS)).catch(() => undefined);
}

/** Cancels a task. @throws A2AError when another attempt may succeed */
export async function cancelLeftTask(
  agent: RemoteAgent,
  { state, task }: LeftTask,
  signal: AbortSignal,
): Promise<CancelledWork> {
  if (state === "over") return "over";
  try {
    const id = task.id ?? (await findTask(agent, task, signal));
    if (id === undefined) return "unknown";
    const cancelled = readTask(await agent.call(task.at, "CancelTask", { id }, { signal }));
    return hasEnded(cancelled.state) ? "over" : "going_on";
  } catch (error) {
    if (error instanceof A2AError && FINAL.has(error.answered)) return "over";
    throw error;
  }
}

/** The id of the task that a message has begun, which the agent may not have answered. */
async function findTask(
  agent: RemoteAgent,
  { at, message, context }: LeftTask["task"],
  signal: AbortSignal,
): Promise<string | undefined> {
  const params = { pageSize: MOST_LISTED, ...(context !== "" && { contextId: context }) };
  const listed = await agent.call(at, "ListTasks", params, { signal });
  const tasks = isJsonObject(listed) && Array.isArray(listed.tasks) ? listed.tasks : [];
  const found = tasks.find((task) => hasMessage(task, message));
  return found === undefined ? undefined : readTask(found).id;
}
