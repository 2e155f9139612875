import type { TeamClient, ThreadMessage } from "troupe/client";
import type { ToolCall } from "../conversation/entries.ts";
import type { TimelineStep } from "./steps.ts";

/** The messages of a step. */
export interface Recorded {
  /** The messages that the step produced. */
  said: readonly ThreadMessage[];
  /** The tool call with its result. */
  call: ToolCall | undefined;
}

const PAGE = 200;

/** Looks up the recorded content of a step. Failed steps have none. */
export async function recordedOf(team: TeamClient, step: TimelineStep): Promise<Recorded> {
  const { turn, kind, agent } = step.span;
  const nothing: Recorded = { said: [], call: undefined };
  if (turn === null || ["recovery", "attempt", "backoff"].includes(kind)) return nothing;
  const messages = await messagesOf(team, turn);
  const own = agent === null ? messages : messages.filter(({ source }) => source === agent);
  if (kind === "execute_tool") return { ...nothing, call: callOf(step, own) };
  if (kind !== "chat") return { ...nothing, said: own };
  const [reply] = replyOf(step, own);
  if (reply === undefined) return nothing;
  return { ...nothing, said: withThought(reply, own) };
}

async function messagesOf(team: TeamClient, turn: number): Promise<ThreadMessage[]> {
  const messages: ThreadMessage[] = [];
  let after: number | undefined;
  do {
    const page = await team.messages({ turn, limit: PAGE, ...(after !== undefined && { after }) });
    messages.push(...page.messages);
    after = page.next_after ?? undefined;
  } while (after !== undefined);
  return messages;
}

/** The message that a model call produced. Model calls and messages with usage come in the same order. */
function replyOf(step: TimelineStep, own: readonly ThreadMessage[]): ThreadMessage[] {
  const calls = step.parent?.inner.filter(({ span }) => span.kind === "chat" && span.usage) ?? [];
  const replies = own.filter(({ models_usage }) => models_usage !== null);
  const reply = replies[calls.indexOf(step)];
  const used = step.span.usage;
  const fits =
    reply?.models_usage?.prompt_tokens === used?.prompt_tokens &&
    reply?.models_usage?.completion_tokens === used?.completion_tokens;
  return reply !== undefined && fits ? [reply] : [];
}

/** A model's reasoning is an event before its message. */
function withThought(reply: ThreadMessage, own: readonly ThreadMessage[]): ThreadMessage[] {
  const thought = own[own.indexOf(reply) - 1];
  return thought?.type === "ThoughtEvent" ? [thought, reply] : [reply];
}

/** The call at the position in the tool's path: `tool:ROUND:INDEX`. */
function callOf({ span }: TimelineStep, own: readonly ThreadMessage[]): ToolCall | undefined {
  const rounds = own.flatMap((message) =>
    message.type === "ToolCallRequestEvent" ? [message.content] : [],
  );
  const [, round, index] = [...(span.path ?? "").matchAll(/tool:(\d+):(\d+)/g)].at(-1) ?? [];
  const named = rounds[Number(round)]?.[Number(index)];
  const call =
    named?.name === span.tool ? named : rounds.flat().find(({ name }) => name === span.tool);
  if (call === undefined) return undefined;
  const results = own.flatMap((message) =>
    message.type === "ToolCallExecutionEvent" ? message.content : [],
  );
  return { call, result: results.find(({ call_id }) => call_id === call.id) };
}
