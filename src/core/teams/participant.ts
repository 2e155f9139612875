import type { ChatAgent } from "../agents/chat-agent.ts";
import { type ChatMessage, isChatMessage, type Message } from "../messages/message.ts";
import { drive } from "../run/drive.ts";
import type { TurnContext } from "../run/turn-context.ts";
import type { ParticipantInfo } from "./group-chat-manager.ts";
import type { Team } from "./team.ts";
import type { ThreadItem } from "./thread.ts";

/** A member of a group chat: an agent, or a team that speaks as one. */
export interface Participant {
  info: ParticipantInfo;
  subject: ChatAgent | Team;
  /** Lets it speak; returns what goes into the thread. */
  respond(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, ThreadItem[], void>;
  reset(ctx: TurnContext): Promise<void>;
}

export function participant(subject: ChatAgent | Team): Participant {
  return "onMessagesStream" in subject ? agentParticipant(subject) : teamParticipant(subject);
}

function agentParticipant(agent: ChatAgent): Participant {
  const { name, description, producedMessageTypes } = agent;
  return {
    info: { name, description, producedMessageTypes },
    subject: agent,
    async *respond(messages, ctx) {
      const { chat_message, inner_messages } = yield* agent.onMessagesStream(messages, ctx);
      yield chat_message;
      const inner = (inner_messages ?? []).filter(
        (message) => message.type !== "ModelClientStreamingChunkEvent",
      );
      return [
        ...inner.map((message) => ({ message, shared: false, by: name })),
        { message: chat_message, shared: true, by: name },
      ];
    },
    reset: (ctx) => agent.onReset(ctx),
  };
}

/** A team gets what is new as its task and shares every chat message of its run. With nothing new it continues. */
function teamParticipant(team: Team): Participant {
  const { name, description } = team;
  return {
    info: { name, description, producedMessageTypes: [] },
    subject: team,
    async *respond(messages, ctx) {
      const task = { messages: messages.length > 0 ? messages : null, outputTaskMessages: false };
      const result = yield* drive(team, task, ctx);
      return result.messages.map((message) => ({
        message,
        shared: isChatMessage(message),
        by: name,
      }));
    },
    reset: (ctx) => team.reset(ctx),
  };
}
