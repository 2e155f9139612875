import type { ChatAgent } from "../agents/chat-agent.ts";
import type { Component } from "../component/component.ts";
import type { Runnable } from "../run/runnable.ts";

/** A group of agents that works on a task turn by turn (AutoGen `Team`). */
export interface Team extends Runnable, Component {}

/** Whether a participant is a team. */
export function isTeam(participant: ChatAgent | Team): participant is Team {
  return !("onMessagesStream" in participant);
}
