import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  withoutInnerNulls,
  withoutNulls,
} from "../component/component.ts";
import { shortForm, ValueError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import {
  type CallsMessage,
  type FunctionExecutionResult,
  type FunctionExecutionResultMessage,
  isCalls,
  isResults,
  type LLMMessage,
  llmMessageSchema,
  type SystemMessage,
} from "../models/llm-messages.ts";
import { ItemLog } from "../state/item-log.ts";
import { withEarlierMessages } from "../state/earlier-layouts.ts";
import { parseState } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { ChatCompletionContext } from "./chat-completion-context.ts";
import { aList, checkArgument } from "../options/options.ts";
import type { ChatMessage } from "../messages/message.ts";
import { toModelMessage } from "../messages/views.ts";

export const initialMessagesSchema = z.array(llmMessageSchema).nullish();

const stateSchema = z.object({ messages: z.array(llmMessageSchema).default([]) });

/**
 * Base class of model contexts; extend it to write your own. The messages it starts with belong to its
 * config and stand before those that were added, until it is cleared or gets another state.
 */
export abstract class BaseChatCompletionContext implements ChatCompletionContext {
  abstract readonly definition: Component["definition"];
  readonly #initial: readonly LLMMessage[] | undefined;
  readonly #added = new ItemLog(llmMessageSchema);
  #showsInitial = true;

  constructor(initialMessages?: readonly LLMMessage[] | null) {
    checkArgument(aList.nullish(), initialMessages, new.target.name, "initialMessages");
    this.#initial = initialMessages ?? undefined;
  }

  abstract getMessages(): Promise<LLMMessage[]>;

  addMessage(message: LLMMessage): void {
    this.#added.append(message);
  }

  clear(): void {
    this.#added.clear();
    this.#showsInitial = false;
  }

  saveState(): JsonObject {
    return { messages: this.slice(0) };
  }

  loadState(state: JsonObject): void {
    const earlier = withEarlierMessages(state);
    const { messages } = parseState(stateSchema, earlier, "a model context's state");
    this.clear();
    this.#added.append(...messages);
  }

  /** Without initial messages only the log has to be stored. */
  stateParts(): StateParts {
    const logs = { messages: this.#added };
    if (this.#initial === undefined) return { logs };
    const head = {
      save: () => ({ shows_initial: this.#showsInitial }),
      load: (value: Json) => {
        this.#showsInitial = (value as { shows_initial: boolean }).shows_initial;
      },
    };
    return { head, logs };
  }

  toConfig(): JsonObject {
    const initial = this.#initial?.map(withoutInnerNulls);
    return withoutNulls({ ...this.ownConfig(), initial_messages: initial });
  }

  /** The config keys besides `initial_messages`. */
  protected abstract ownConfig(): { [key: string]: unknown };

  protected get length(): number {
    return this.#shown.length + this.#added.length;
  }

  /** The messages of `[from, to)`; a negative `from` counts from the end. Reads only these from storage. */
  protected slice(from: number, to = this.length): LLMMessage[] {
    const start = Math.max(0, from < 0 ? this.length + from : from);
    const before = this.#shown.length;
    const added = to > before ? this.#added.slice(Math.max(0, start - before), to - before) : [];
    return [...this.#shown.slice(start, to), ...added];
  }

  /**
   * The messages from `start` on, without calls or results that stand alone. Where nothing would be left, they begin
   * earlier: the exchange at the end of the conversation is what the model has to answer.
   */
  protected ending(start: number): { start: number; messages: LLMMessage[] } {
    let from = Math.max(0, start);
    let messages = wholeExchanges(this.slice(from));
    while (messages.length === 0 && from > 0) messages = wholeExchanges(this.slice(--from));
    return { start: from, messages };
  }

  /** The first `count` messages, without calls or results that stand alone. */
  protected beginning(count: number): LLMMessage[] {
    const messages = this.slice(0, count);
    return wholeExchanges(withoutTornEnd(messages, this.slice(count, count + 1)[0]));
  }

  get #shown(): readonly LLMMessage[] {
    return this.#showsInitial ? (this.#initial ?? []) : [];
  }
}

/** @throws ValueError unless `value` is a whole number above 0 */
export function requirePositive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  const issue = {
    path: name,
    message: `must be a whole number greater than 0, not ${shortForm(value)}`,
  };
  throw new ValueError(`${name} ${issue.message}`, { issues: [issue] });
}

const configSchema = z.object({ initial_messages: initialMessagesSchema });

/** Shows the model everything (AutoGen `UnboundedChatCompletionContext`). */
export class UnboundedChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.model_context.UnboundedChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: (config) => new UnboundedChatCompletionContext(config.initial_messages),
  });

  readonly definition = UnboundedChatCompletionContext.component;

  getMessages(): Promise<LLMMessage[]> {
    return Promise.resolve(this.ending(0).messages);
  }

  protected ownConfig(): { [key: string]: unknown } {
    return {};
  }
}

/** Adds the new messages to the model context; the context that a handoff carries comes first. */
export function remember(context: ChatCompletionContext, messages: readonly ChatMessage[]): void {
  for (const message of messages) {
    if (message.type === "HandoffMessage") {
      for (const earlier of message.context) context.addMessage(earlier);
    }
    context.addMessage(toModelMessage(message));
  }
}

/** The parts of a model's input. */
export interface ModelInput {
  systemMessage: SystemMessage | null;
  modelContext: ChatCompletionContext;
  modelClient: ChatCompletionClient;
}

/**
 * The messages for the model: the system message and the context.
 *
 * @param key the key of the model call, unique in `ctx`
 */
export async function modelMessages(
  { systemMessage, modelContext, modelClient }: ModelInput,
  ctx: TurnContext,
  key: string,
): Promise<LLMMessage[]> {
  const context = await preparedMessages(modelContext, modelClient, ctx, key);
  return systemMessage === null ? context : [systemMessage, ...context];
}

/**
 * The messages of a context for the model call `key` of `ctx`. Calls and results that stand alone are left out, whatever
 * the context shows: a program's own may tear them apart, and APIs refuse the request then.
 */
export async function preparedMessages(
  modelContext: ChatCompletionContext,
  modelClient: ChatCompletionClient,
  ctx: TurnContext,
  key: string,
): Promise<LLMMessage[]> {
  await modelContext.prepare?.({ ctx: ctx.scope(`context:${key}`), modelClient });
  return wholeExchanges(await modelContext.getMessages());
}

/**
 * Leaves out calls without a result and results without a call, because model APIs refuse a request with one of them.
 * Returns the same array if all are complete. Results belong to the calls directly before them, also where several messages
 * have them, because the same ids come back in later answers of some models.
 */
export function wholeExchanges(messages: LLMMessage[]): LLMMessage[] {
  // Calls and results are lists.
  if (messages.every(({ content }) => typeof content === "string")) return messages;
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
function withoutTornEnd(messages: LLMMessage[], next: LLMMessage | undefined): LLMMessage[] {
  if (!isResults(next)) return messages;
  const last = messages.findLastIndex((message) => !isResults(message));
  const calls = messages[last];
  return isCalls(calls) ? messages.slice(0, last) : messages;
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
