import { type ChatAgent, isAgent, type AgentResponse } from "../agents/chat-agent.ts";
import { ValueError } from "../errors.ts";
import { isChatMessage } from "../messages/kinds.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { runInner } from "../run/inner-run.ts";
import { noteFailingAgent } from "../run/failing-agent.ts";
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

/**
 * The members of a team, in their order.
 *
 * @throws ValueError when the list is empty, or two have the same name
 */
export function participantsByName(
  subjects: readonly (ChatAgent | Team)[],
  managerName: string,
): Map<string, Participant> {
  if (subjects.length === 0) throw new ValueError("a team needs at least one participant");
  const participants = new Map<string, Participant>();
  for (const subject of subjects) {
    const { name } = subject;
    if (participants.has(name)) {
      throw new ValueError(`participant names must be unique in a team, "${name}" is there twice`);
    }
    if (name === managerName) {
      throw new ValueError(
        `"${name}" is the name of the team's manager; a participant needs another`,
      );
    }
    participants.set(name, participant(subject));
  }
  return participants;
}

function participant(subject: ChatAgent | Team): Participant {
  return isAgent(subject) ? agentParticipant(subject) : teamParticipant(subject);
}

function agentParticipant(agent: ChatAgent): Participant {
  const { name, description, producedMessageTypes } = agent;
  return {
    info: { name, description, producedMessageTypes },
    subject: agent,
    async *respond(messages, ctx) {
      ctx.describe({ kind: "agent", name });
      let response: AgentResponse;
      try {
        response = yield* agent.onMessagesStream(messages, ctx);
      } catch (error) {
        throw noteFailingAgent(error, name);
      }
      const { chatMessage, innerMessages } = response;
      yield chatMessage;
      const inner = (innerMessages ?? []).filter(
        (message) => message.type !== "ModelClientStreamingChunkEvent",
      );
      return [
        ...inner.map((message) => ({ message, shared: false, by: name })),
        { message: chatMessage, shared: true, by: name },
      ];
    },
    reset: (ctx) => agent.onReset(ctx),
  };
}

/** A team gets the new messages as its task and shares every chat message of its run. Without any it continues. */
function teamParticipant(team: Team): Participant {
  const { name, description } = team;
  return {
    info: { name, description, producedMessageTypes: [] },
    subject: team,
    async *respond(messages, ctx) {
      const task = { messages: messages.length > 0 ? messages : null, outputTaskMessages: false };
      const result = yield* runInner(team, task, ctx);
      return result.messages.map((message) => ({
        message,
        shared: isChatMessage(message),
        by: name,
      }));
    },
    reset: (ctx) => team.reset(ctx),
  };
}
