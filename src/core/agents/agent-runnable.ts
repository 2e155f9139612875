import { type ChatAgent, isAgent, type AgentResponse } from "./chat-agent.ts";
import type { ChatMessage } from "../messages/message.ts";
import { asJson } from "../json.ts";
import { isSteering } from "../turn/steering.ts";
import { noteFailingAgent } from "../run/failing-agent.ts";
import type { Runnable } from "../run/runnable.ts";

/** The items and the result of an agent's stream. */
export type AnswerStream = ReturnType<ChatAgent["onMessagesStream"]>;
/** Filters an agent's stream. */
export type StreamFilter = (stream: AnswerStream) => AnswerStream;

/**
 * A single agent as the root of a run: it gets the task and answers once. Its state is the agent's, and the task between
 * turn 0 and turn 1, because a host may restart in between.
 *
 * @param answer filters the agent's stream; by default everything it yields is passed on
 */
export function agentRunnable(
  agent: ChatAgent,
  answer: StreamFilter = (stream) => stream,
): Runnable {
  let task: readonly ChatMessage[] = [];
  return {
    name: agent.name,
    description: agent.description,
    ...(agent.members && { members: agent.members }),
    async *begin({ messages, outputTaskMessages }, ctx) {
      task = [...task, ...ctx.steering("steering:before", { earlier: true })];
      // Without a new task an unanswered task counts: after a failed run, or in a fork before the answer.
      if (messages !== null) {
        task = [...task.filter(isSteering), ...messages];
        if (outputTaskMessages) yield* messages;
      }
      task = [...task, ...ctx.steering("steering", { last: true })];
      return { done: false };
    },
    async *turn(ctx) {
      ctx.describe({ kind: "agent", name: agent.name });
      let response: AgentResponse;
      try {
        response = yield* answer(agent.onMessagesStream(task, ctx));
      } catch (error) {
        throw noteFailingAgent(error, agent.name);
      }
      const { innerMessages, chatMessage } = response;
      yield chatMessage;
      // One more turn reads the messages that came too late for this one, or the next run does.
      task = ctx.steering("steering", { last: true });
      const said = [...(innerMessages ?? []), chatMessage];
      if (task.length > 0 && !ctx.stopRequested) return { done: false, said };
      return { done: true, stopReason: null, said };
    },
    hear(messages) {
      task = [...task, ...messages];
    },
    stop() {
      task = [];
    },
    conversation: () => [],
    async reset(ctx) {
      task = [];
      await agent.onReset(ctx);
    },
    onPause: () => agent.onPause(),
    onResume: () => agent.onResume(),
    close: () => agent.close(),
    saveState: () => agent.saveState(),
    loadState(state) {
      agent.loadState(state);
      task = [];
    },
    stateParts: () => ({
      head: {
        save: () => asJson(task),
        load: (value) => {
          task = value as ChatMessage[];
        },
      },
      children: { agent },
    }),
  };
}

/** The runnable of a run's subject: a team itself, or an agent wrapped by {@link agentRunnable}. */
export function asRunnable(subject: ChatAgent | Runnable, answer?: StreamFilter): Runnable {
  return isAgent(subject) ? agentRunnable(subject, answer) : subject;
}

/**
 * The part of an agent's stream that a plain run returns (AutoGen `on_messages`): only the items of the response, which may
 * be fewer than were streamed.
 */
export async function* responseOnly(stream: AnswerStream): AnswerStream {
  let next = await stream.next();
  while (!next.done) next = await stream.next();
  yield* next.value.innerMessages ?? [];
  return next.value;
}
