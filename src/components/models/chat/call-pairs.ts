import { isJsonObject } from "../../../core/json.ts";
import {
  type AssistantMessage,
  type CallsMessage,
  type FunctionCall,
  type FunctionExecutionResult,
  type FunctionExecutionResultMessage,
  isCalls,
  isResults,
  type LLMMessage,
} from "../../../core/models/llm-messages.ts";
import { beginningOf } from "../../../core/cut.ts";
import { CallIds } from "./call-id.ts";
import { wellFormedJson } from "./request-text.ts";
import { changed, same } from "./sound-message.ts";

/** A call and its result. */
interface Exchange {
  call: FunctionCall;
  result: FunctionExecutionResult | undefined;
}

/** A message with calls and the results behind it, as they were sent. */
interface Sent {
  results: readonly FunctionExecutionResultMessage[];
  /** The stored ids of the calls, and those in the request. */
  stored: readonly string[];
  ids: readonly string[];
  messages: readonly LLMMessage[];
}

/** Stands in for a result that is not in the conversation. */
const NO_RESULT = "The conversation has no result of this call.";

/** The longest part of wrong arguments that a result repeats. */
const LONGEST_ARGUMENTS = 2000;

/**
 * Gives each call its result and each result its call, in place: the makers refuse a conversation in which one is missing, or in
 * which a call's arguments are not a JSON object. Messages without a fault stay the same objects, and repaired ones are the same
 * in later requests, so that they are written once.
 */
export class CallPairs {
  readonly #accepted: RegExp;
  /** By the message with the calls or, where there is none, the one with the first results. */
  readonly #sent = new WeakMap<LLMMessage, Sent>();

  /** @param accepted the ids of calls that the API takes */
  constructor(accepted: RegExp) {
    this.#accepted = accepted;
  }

  complete(messages: readonly LLMMessage[]): LLMMessage[] {
    const ids = new CallIds(this.#accepted);
    const complete: LLMMessage[] = [];
    let index = 0;
    const results = (): FunctionExecutionResultMessage[] => {
      const found: FunctionExecutionResultMessage[] = [];
      for (let next = messages[index]; isResults(next); next = messages[++index]) found.push(next);
      return found;
    };
    for (let message = messages[index]; message !== undefined; message = messages[index]) {
      if (isCalls(message)) {
        index++;
        complete.push(...this.#pair(message, results(), ids));
      } else if (isResults(message)) complete.push(...this.#pair(undefined, results(), ids));
      else {
        index++;
        complete.push(message);
      }
    }
    return complete;
  }

  #pair(
    calls: CallsMessage | undefined,
    results: FunctionExecutionResultMessage[],
    ids: CallIds,
  ): readonly LLMMessage[] {
    const key = calls ?? results[0];
    if (key === undefined) return [];
    const existing = this.#sent.get(key);
    if (existing !== undefined && same(existing.results, results) === existing.results) {
      const taken = existing.stored.map((id) => ids.take(id));
      if (same(existing.ids, taken) === existing.ids) return existing.messages;
      return this.#keep(key, { ...existing, ids: taken }, calls);
    }
    const stored = exchangesOf(calls, results).map(({ call }) => call.id);
    const taken = stored.map((id) => ids.take(id));
    return this.#keep(key, { results, stored, ids: taken }, calls);
  }

  #keep(
    key: LLMMessage,
    sent: Omit<Sent, "messages">,
    calls: CallsMessage | undefined,
  ): readonly LLMMessage[] {
    const messages = repaired(calls, sent.results, sent.ids);
    this.#sent.set(key, { ...sent, messages });
    return messages;
  }
}

/** Matches by id, then by name; a result that is left gets a call of its own. */
function exchangesOf(
  calls: CallsMessage | undefined,
  messages: readonly FunctionExecutionResultMessage[],
): Exchange[] {
  const left = messages.flatMap(({ content }) => content);
  const take = (
    fits: (result: FunctionExecutionResult) => boolean,
  ): FunctionExecutionResult | undefined => {
    const at = left.findIndex(fits);
    return at === -1 ? undefined : left.splice(at, 1)[0];
  };
  const byId = (calls?.content ?? []).map((call) => ({
    call,
    result: take(({ call_id }) => call_id === call.id),
  }));
  const byName = byId.map(({ call, result }) => ({
    call,
    result: result ?? take(({ name }) => name === call.name),
  }));
  return [...byName, ...left.map((result) => ({ call: callFor(result), result }))];
}

function callFor({ call_id, name }: FunctionExecutionResult): FunctionCall {
  return { id: call_id, name, arguments: "{}" };
}

function repaired(
  calls: CallsMessage | undefined,
  messages: readonly FunctionExecutionResultMessage[],
  ids: readonly string[],
): readonly LLMMessage[] {
  const exchanges = exchangesOf(calls, messages);
  if (exchanges.length === 0) return [];
  const sentCalls = exchanges.map(({ call }, index) => sentCall(call, ids[index] ?? ""));
  const stored = messages.flatMap(({ content }) => content);
  const answered = stored.flatMap((result) => {
    const index = exchanges.findIndex((exchange) => exchange.result === result);
    const call = exchanges[index]?.call;
    return call === undefined ? [] : [sentResult(result, call, ids[index] ?? "")];
  });
  const unanswered = exchanges.flatMap(({ call, result }, index) =>
    result === undefined ? [noResult(call, ids[index] ?? "")] : [],
  );
  const content = [...answered, ...unanswered];
  const [only, ...others] = messages;
  return [
    calls === undefined
      ? madeUp(sentCalls)
      : changed(calls, { content: same(calls.content, sentCalls) }),
    only !== undefined && others.length === 0
      ? changed(only, { content: same(only.content, content) })
      : { type: "FunctionExecutionResultMessage", content },
  ];
}

function madeUp(content: FunctionCall[]): AssistantMessage {
  return { type: "AssistantMessage", source: "assistant", content, thought: null };
}

function sentCall(call: FunctionCall, id: string): FunctionCall {
  const isSound = isObjectText(call.arguments);
  return changed(call, { id, arguments: isSound ? wellFormedJson(call.arguments) : "{}" });
}

function sentResult(
  result: FunctionExecutionResult,
  call: FunctionCall,
  call_id: string,
): FunctionExecutionResult {
  const content = result.is_error === true ? withArguments(result.content, call) : result.content;
  return changed(result, { call_id, content });
}

function noResult(call: FunctionCall, call_id: string): FunctionExecutionResult {
  const content = withArguments(NO_RESULT, call);
  return { call_id, name: call.name, content, is_error: true };
}

/** The text of an error with the arguments as the model wrote them, where the call goes back without them. */
function withArguments(content: string, { arguments: written }: FunctionCall): string {
  const text = written.trim();
  if (text === "" || isObjectText(text) || content.includes(text)) return content;
  return `${content}\nThe arguments were not a JSON object: ${beginningOf(text, LONGEST_ARGUMENTS)}`;
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
