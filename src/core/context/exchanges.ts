import type {
  AssistantMessage,
  FunctionCall,
  FunctionExecutionResult,
  FunctionExecutionResultMessage,
  LLMMessage,
} from "../models/llm-messages.ts";

export type CallsMessage = AssistantMessage & { content: FunctionCall[] };

/** True if the message holds results of tools, which belong to the calls before it. */
export function isResults(
  message: LLMMessage | undefined,
): message is FunctionExecutionResultMessage {
  return message?.type === "FunctionExecutionResultMessage";
}

/**
 * Leaves out calls without a result and results without a call, because model APIs refuse a request with one of them.
 * Returns the same array if all are complete. Results belong to the calls directly before them, also where several messages
 * have them, because the same ids come back in later answers of some models.
 */
export function wholeExchanges(messages: LLMMessage[]): LLMMessage[] {
  const whole: LLMMessage[] = [];
  let changed = false;
  for (let index = 0; index < messages.length;) {
    const message = messages[index] as LLMMessage;
    let end = index + 1;
    while (isResults(messages[end])) end++;
    const exchange = messages.slice(index, end);
    const kept = isCalls(message)
      ? pairs(message, exchange.slice(1).filter(isResults))
      : exchange.filter((part) => !isResults(part));
    changed ||= kept.length !== exchange.length || kept.some((part, at) => part !== exchange[at]);
    whole.push(...kept);
    index = end;
  }
  return changed ? whole : messages;
}

/**
 * The beginning of a conversation without an exchange that its end cuts through.
 *
 * @param next the message after it
 */
export function withoutTornEnd(messages: LLMMessage[], next: LLMMessage | undefined): LLMMessage[] {
  if (!isResults(next)) return messages;
  const last = messages.findLastIndex((message) => !isResults(message));
  const calls = messages[last];
  return isCalls(calls) ? messages.slice(0, last) : messages;
}

/** True if the message holds calls of tools. */
export function isCalls(message: LLMMessage | undefined): message is CallsMessage {
  return message?.type === "AssistantMessage" && typeof message.content !== "string";
}

/** The calls that have a result, and the results that have a call; messages without one are left out. */
function pairs(
  message: CallsMessage,
  following: readonly FunctionExecutionResultMessage[],
): LLMMessage[] {
  const results = following.flatMap(({ content }) => content);
  const answered = new Set<FunctionExecutionResult>();
  const calls = message.content.filter(({ id }) => {
    const result = results.find((one) => one.call_id === id && !answered.has(one));
    if (result !== undefined) answered.add(result);
    return result !== undefined;
  });
  if (calls.length === 0) return [];
  return [
    calls.length === message.content.length ? message : { ...message, content: calls },
    ...following.flatMap((part) => {
      const content = part.content.filter((result) => answered.has(result));
      if (content.length === 0) return [];
      return [content.length === part.content.length ? part : { ...part, content }];
    }),
  ];
}
