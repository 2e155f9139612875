import type { Conversation, ListedTeam } from "./directory.ts";

/** A conversation as it is shown: without what tells callers apart. A module without schemas, which every start of the Worker runs. */
export function shownConversation(
  conversation: Conversation | undefined,
): ListedTeam["conversation"] {
  return conversation ? { agent_id: conversation.agent, caller: conversation.caller } : null;
}
