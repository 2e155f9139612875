import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../../../contract/run.ts";
import { isChatMessage } from "../../../core/messages/views.ts";
import { isMessage } from "../../../core/messages/message-factory.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { unwrap } from "../../http/endpoint/problem.ts";

/** Messages of the conversation that are searched for the last one, where the run is shown without its own. */
const TAIL = 20;

/** The chat messages that a run was given. */
export function taskMessages({ task }: Pick<RunInfo, "task">): ChatMessage[] {
  return Array.isArray(task) ? task.filter(isStoredChatMessage) : [];
}

export function isStoredChatMessage(value: unknown): value is ChatMessage {
  return isMessage(value) && isChatMessage(value);
}

/** The last chat message of a completed run, which is its answer. @throws ProblemError */
export async function lastMessage(
  team: TeamGateway,
  run: RunInfo,
): Promise<ChatMessage | undefined> {
  const messages: readonly Message[] =
    run.result?.messages ??
    unwrap(await team.messages({ before: Number.MAX_SAFE_INTEGER, limit: TAIL })).messages;
  return messages.findLast(isChatMessage);
}

/** Messages of the conversation among which those of an active run are. */
const RECENT = 100;

/**
 * The messages of an active run after its task, by the turns that are committed. Empty if that is too long ago.
 *
 * @throws ProblemError
 */
export async function saidSoFar(team: TeamGateway, run: RunInfo): Promise<readonly Message[]> {
  const taskIds = new Set(taskMessages(run).map(({ id }) => id));
  if (run.started_at === null || run.ended_at !== null || taskIds.size === 0) return [];
  const page = await team.messages({ before: Number.MAX_SAFE_INTEGER, limit: RECENT });
  const { messages } = unwrap(page);
  const last = messages.findLastIndex(({ id }) => taskIds.has(id));
  return last < 0 ? [] : messages.slice(last + 1);
}
