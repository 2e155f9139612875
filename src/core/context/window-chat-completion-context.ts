import * as z from "zod";
import { type AnyComponentDefinition, componentDefinition } from "../component/component.ts";
import { ValueError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import { isResults, type LLMMessage } from "../models/llm-messages.ts";
import { estimateTokens } from "../models/tokens/estimate.ts";
import { parseState } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
  requirePositive,
} from "./base-chat-completion-context.ts";
import { aList, aNumber, checkOptions, type OptionsSchema } from "../options/options.ts";

const configSchema = z.object({
  high: z.int(),
  low: z.int(),
  initial_messages: initialMessagesSchema,
});

const windowSchema = z.object({
  start: z.int().nonnegative(),
  end: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
});

const stateSchema = z.object({ troupe: windowSchema.pick({ start: true }).optional() });

export interface WindowOptions {
  /** A context with more tokens than this is truncated. */
  high: number;
  /** The most tokens that remain after truncation. */
  low: number;
  initialMessages?: readonly LLMMessage[] | null | undefined;
}

const optionsSchema: OptionsSchema<WindowOptions> = z.object({
  high: aNumber,
  low: aNumber,
  initialMessages: aList.nullish(),
});

/**
 * Shows the model the last messages, between `low` and `high` tokens of them (Troupe's own; AutoGen has none). Once they
 * are more than `high` tokens, the oldest are left out until `low` are left; then the window grows again. Requests in
 * between begin with the same messages, so that model servers find them in their caches; a window that moves with every
 * message never gives them the same beginning twice.
 *
 * Tokens are estimated: four characters each. Calls are never apart from their results, and the last message always stays.
 *
 * @throws ValueError unless `low` is above 0 and below `high`
 */
export class WindowChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.model_context.WindowChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: ({ high, low, initial_messages }) =>
      new WindowChatCompletionContext({ high, low, initialMessages: initial_messages ?? null }),
  });

  readonly definition = WindowChatCompletionContext.component;
  readonly #high: number;
  readonly #low: number;
  /** The messages to show, among those up to `end` whose tokens are counted. */
  #window: z.infer<typeof windowSchema> = { start: 0, end: 0, tokens: 0 };

  constructor(options: WindowOptions) {
    const { high, low, initialMessages } = checkOptions(
      optionsSchema,
      options,
      "WindowChatCompletionContext",
    );
    super(initialMessages);
    this.#high = requirePositive("high", high);
    this.#low = requirePositive("low", low);
    if (low >= high) {
      const message = `must be less than high, which is ${high}`;
      throw new ValueError(`low ${message}`, { issues: [{ path: "low", message }] });
    }
  }

  override addMessage(message: LLMMessage): void {
    super.addMessage(message);
    this.#measure();
  }

  override clear(): void {
    super.clear();
    this.#window = { start: 0, end: 0, tokens: 0 };
  }

  getMessages(): Promise<LLMMessage[]> {
    this.#measure();
    return Promise.resolve(this.ending(this.#window.start).messages);
  }

  override saveState(): JsonObject {
    const { start } = this.#window;
    return { ...super.saveState(), ...(start > 0 && { troupe: { start } }) };
  }

  override loadState(state: JsonObject): void {
    const { troupe } = parseState(stateSchema, state, "a model context's state");
    super.loadState(state);
    const start = Math.min(troupe?.start ?? 0, this.length);
    this.#window = { start, end: start, tokens: 0 };
    this.#measure();
  }

  override stateParts(): StateParts {
    const { head, ...parts } = super.stateParts();
    return {
      ...parts,
      head: {
        save: () => ({ window: this.#window, ...(head && { initial: head.save() }) }),
        load: (value: Json) => {
          const stored = value as { window: z.infer<typeof windowSchema>; initial?: Json };
          this.#window = stored.window;
          if (stored.initial !== undefined) head?.load(stored.initial);
        },
      },
    };
  }

  protected ownConfig(): { [key: string]: unknown } {
    return { high: this.#high, low: this.#low };
  }

  /** Counts new messages, and moves the window when they exceed the limit. */
  #measure(): void {
    let { start, end, tokens } = this.#window;
    if (end === this.length) return;
    for (const message of this.slice(end)) tokens += estimateTokens(message);
    end = this.length;
    if (tokens > this.#high) {
      const visible = this.slice(start);
      const left = this.#cut(visible);
      for (const message of visible.slice(0, left)) tokens -= estimateTokens(message);
      start += left;
    }
    this.#window = { start, end, tokens };
  }

  /** The number of the oldest messages that are dropped. */
  #cut(shown: readonly LLMMessage[]): number {
    let tokens = 0;
    let first = shown.length;
    for (let index = shown.length - 1; index >= 0; index--) {
      const message = shown[index] as LLMMessage;
      tokens += estimateTokens(message);
      if (tokens > this.#low && first < shown.length) break;
      // A result at the beginning would have no call.
      if (!isResults(message)) first = index;
    }
    return first;
  }
}
