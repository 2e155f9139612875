import type { TeamGateway } from "../contract/gateways/team-gateway.ts";
import type { RunInfo } from "../contract/run.ts";
import { isChatMessage } from "../core/messages/kinds.ts";
import type { ChatMessage, Message } from "../core/messages/message.ts";
import { unwrap } from "../http/problem.ts";

/** Messages looked through for the last one that was said, where the run is shown without its own. */
const TAIL = 20;

/** What a completed run has answered. @throws ProblemError */
export async function lastMessage(
  team: TeamGateway,
  run: RunInfo,
): Promise<ChatMessage | undefined> {
  const messages: readonly Message[] =
    run.result?.messages ??
    unwrap(await team.messages({ before: Number.MAX_SAFE_INTEGER, limit: TAIL })).messages;
  return messages.findLast(isChatMessage);
}
