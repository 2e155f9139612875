import type { Component } from "../component/component.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { Member, Runnable } from "../run/runnable.ts";
import type { StructuredOutput } from "../run/task-result.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";

/** True for a single agent, false for a team: as a participant, or as the subject of a run. */
export function isAgent(subject: ChatAgent | Runnable): subject is ChatAgent {
  return "onMessagesStream" in subject;
}

/** An agent's answer: the message for the others and its inner events (AutoGen `Response`). */
export interface AgentResponse {
  chatMessage: ChatMessage;
  /** Null when there was nothing; only these count for conditions and the thread, beside the chat message. */
  innerMessages: Message[] | null;
}

/**
 * A participant of a team (AutoGen `ChatAgent`). It gets only the messages that are new to it and keeps those it needs.
 * It yields events while it works, chunks included, and returns its response; the chat message of the response is not
 * yielded.
 */
export interface ChatAgent extends Component, Stateful {
  /** A JavaScript-identifier-like name, unique in its team. */
  readonly name: string;
  readonly description: string;
  /** Types of the chat messages it answers with; managers look at it (Swarm wants `HandoffMessage`). */
  readonly producedMessageTypes: readonly string[];
  /** The agents and teams inside it, where it has a team of its own: who can get a message of their own. */
  readonly members?: readonly Member[];
  /** Reads its structured answers, for `output` of a run's result. Left out by agents that answer with other messages. */
  readonly structuredOutput?: StructuredOutput | undefined;
  onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void>;
  onReset(ctx: TurnContext): Promise<void>;
  onPause(): Promise<void>;
  onResume(): Promise<void>;
  close(): Promise<void>;
}
