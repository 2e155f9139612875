import * as z from "zod";
import { type ChatAgent, isAgent, type AgentResponse } from "../agents/chat-agent.ts";
import { ValueError } from "../errors.ts";
import { isChatMessage } from "../messages/views.ts";
import type { Message } from "../messages/message.ts";
import { runInner } from "../run/inner-run.ts";
import { noteFailingAgent } from "../run/failing-agent.ts";
import type { Branch, TurnContext } from "../turn/turn-context.ts";
import type { ParticipantInfo } from "./group-chat-manager.ts";
import type { Team } from "./team.ts";
import type { ThreadItem, Unheard } from "./thread.ts";
import { checkArgument, hasMethods, valueThat } from "../options/options.ts";

/** A member of a group chat: an agent, or a team that speaks as one. */
export interface Participant {
  info: ParticipantInfo;
  subject: ChatAgent | Team;
  /** Runs the participant's turn; returns its messages for the thread. */
  respond(unheard: Unheard, ctx: TurnContext): AsyncGenerator<Message, ThreadItem[], void>;
  reset(ctx: TurnContext): Promise<void>;
}

const participantsSchema = z.array(
  valueThat(
    "an agent or a team",
    (value) => hasMethods(value, ["onMessagesStream"]) || hasMethods(value, ["begin", "turn"]),
  ),
);

/** @throws ValueError when something in the list is neither an agent nor a team */
export function requireParticipants(participants: unknown, owner: string): void {
  checkArgument(participantsSchema, participants, owner, "participants");
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
    async *respond({ messages }, ctx) {
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
    async *respond({ messages, earlier }, ctx) {
      const given = messages.length > 0 ? messages : null;
      const task = { messages: given, outputTaskMessages: false, earlier };
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

/**
 * Runs several speakers concurrently. A participant listed twice (a graph's node that two groups of edges lead to)
 * speaks twice, one after the other, the second time without new messages: both times were chosen at once.
 *
 * @param unheard the messages that are new to a participant
 * @returns the messages of each speaker, in the order of `speakers`
 */
export async function* speakSideBySide(
  speakers: readonly Participant[],
  unheard: (name: string) => Unheard,
  ctx: TurnContext,
): AsyncGenerator<Message, ThreadItem[][], void> {
  const places = new Map<Participant, number[]>();
  for (const [place, speaker] of speakers.entries()) {
    places.set(speaker, [...(places.get(speaker) ?? []), place]);
  }
  const branches = [...places].map(([speaker, { length }]): Branch<Message, ThreadItem[][]> => ({
    key: `speaker:${speaker.info.name}`,
    member: speaker.info.name,
    run: (scope) => speakTimes(speaker, length, unheard, scope),
  }));
  const [only] = branches;
  const said =
    only !== undefined && branches.length === 1
      ? [yield* only.run(ctx.scope(only.key, only))]
      : yield* ctx.all(branches);
  const inOrder: ThreadItem[][] = [];
  for (const [index, own] of [...places.values()].entries()) {
    for (const [time, place] of own.entries()) inOrder[place] = said[index]?.[time] ?? [];
  }
  return inOrder;
}

async function* speakTimes(
  speaker: Participant,
  times: number,
  unheard: (name: string) => Unheard,
  ctx: TurnContext,
): AsyncGenerator<Message, ThreadItem[][], void> {
  const said = [yield* speaker.respond(unheard(speaker.info.name), ctx)];
  for (let time = 1; time < times; time++) {
    said.push(yield* speaker.respond({ messages: [], earlier: 0 }, ctx.scope(`again:${time}`)));
  }
  return said;
}
