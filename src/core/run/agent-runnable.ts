import { type ChatAgent, isAgent, type AgentResponse } from "../agents/chat-agent.ts";
import type { ChatMessage } from "../messages/message.ts";
import type { Json } from "../json.ts";
import { noteFailingAgent } from "./failing-agent.ts";
import type { Runnable } from "./runnable.ts";

/** What an agent yields and returns. */
export type AnswerStream = ReturnType<ChatAgent["onMessagesStream"]>;
/** Passes an agent's stream on, or a part of it. */
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
    async *begin({ messages, outputTaskMessages }) {
      // Without a new task an unanswered one counts: after a failed run, or in a fork before the answer.
      if (messages !== null) {
        task = messages;
        if (outputTaskMessages) yield* messages;
      }
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
      task = [];
      return { done: true, stopReason: null, said: [...(innerMessages ?? []), chatMessage] };
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
        save: () => task as unknown as Json,
        load: (value) => {
          task = value as unknown as ChatMessage[];
        },
      },
      children: { agent },
    }),
  };
}

/** What a run drives: a team as it is, an agent as {@link agentRunnable}. */
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
