import type { ConversationKey, ListedTeam } from "../directory.ts";

/**
 * A conversation as the API shows it, without the caller's identity. This module has no schemas, because every start of
 * the Worker runs it.
 */
export function shownConversation(
  conversation: ConversationKey | undefined,
): ListedTeam["conversation"] {
  return conversation ? { agent_id: conversation.agent, caller: conversation.caller } : null;
}
