import * as z from "zod";
import { type Component, withoutInnerNulls, withoutNulls } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import { type LLMMessage, llmMessageSchema } from "../models/llm-messages.ts";
import { ItemLog } from "../state/item-log.ts";
import { parseState } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import type { ChatCompletionContext } from "./chat-completion-context.ts";

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
    const { messages } = parseState(stateSchema, state, "a model context's state");
    this.clear();
    this.#added.append(...messages);
  }

  /** Without initial messages there is nothing but the log to store. */
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

  get #shown(): readonly LLMMessage[] {
    return this.#showsInitial ? (this.#initial ?? []) : [];
  }
}

/** @throws ValueError unless `value` is a whole number above 0 */
export function requirePositive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  const issue = { path: name, message: "must be a whole number greater than 0" };
  throw new ValueError(`${name} ${issue.message}`, { issues: [issue] });
}

/** Results whose call was cut off mean nothing to a model, and APIs refuse them. */
export function withoutLeadingResults(messages: LLMMessage[]): LLMMessage[] {
  return messages[0]?.type === "FunctionExecutionResultMessage" ? messages.slice(1) : messages;
}
