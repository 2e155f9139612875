import { beginningOf } from "../cut.ts";
import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
} from "../component/component.ts";
import { errorMessage } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import { asData } from "../memory/as-data.ts";
import { processMark } from "../memory/process-memory.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import { isResults, type LLMMessage } from "../models/llm-messages.ts";
import { modelClientPart } from "../models/model-client-part.ts";
import { estimateTokens } from "../models/tokens/estimate.ts";
import {
  aList,
  aModelClient,
  aNumber,
  aText,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";
import { parseState } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import { rethrowSignal } from "../steps/signals.ts";
import { callModel } from "../turn/call-model.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import {
  BaseChatCompletionContext,
  initialMessagesSchema,
  requirePositive,
  wholeExchanges,
} from "./base-chat-completion-context.ts";
import type { ModelCallAhead } from "./chat-completion-context.ts";

/** The part of a model's window that a context may fill before it is summarised. */
const SHARE = 0.7;
/** A request for a summary may exceed the limit by this factor: with the default limit it still fits the window. */
const SLACK = 1.25;
/** The window of a model of which none is known. */
const UNKNOWN_WINDOW = 32_000;
const KEEP_LAST = 10;
/** Characters of a message that the model reads to summarise it. */
const LONGEST_PART = 20_000;

const PROMPT =
  "You shorten a conversation for its participants, who will read your summary in place of it. Keep the task and its state, " +
  "decisions and their reasons, facts, names, numbers and open questions, and results of tools that may still be needed. " +
  "Leave out greetings and what is settled. Write in the language of the conversation, without a preamble.";

const configSchema = z.object({
  model_client: componentModelSchema.nullish(),
  token_limit: z.int().nullish(),
  keep_last: z.int().default(KEEP_LAST),
  prompt: z.string().min(1).nullish(),
  initial_messages: initialMessagesSchema,
});

const summarySchema = z.object({ text: z.string(), end: z.int().nonnegative() });

const stateSchema = z.object({
  troupe: z.object({ summary: summarySchema.optional() }).optional(),
});

/** A summary of the messages before `end`. */
type Summary = z.infer<typeof summarySchema>;

export interface SummaryContextOptions {
  /** Writes the summaries. Default: the model of the agent whose context it is. */
  modelClient?: ChatCompletionClient | null | undefined;
  /** A context with more tokens is summarised. Default: 0.7 of the window of the agent's model. */
  tokenLimit?: number | null | undefined;
  /** The most messages at the end that stay as they are. Default 10. */
  keepLast?: number | undefined;
  /** Instructions for the summary in the place of the default ones. */
  prompt?: string | null | undefined;
  initialMessages?: readonly LLMMessage[] | null | undefined;
}

const optionsSchema: OptionsSchema<SummaryContextOptions> = z.object({
  modelClient: aModelClient.nullish(),
  tokenLimit: aNumber.nullish(),
  keepLast: aNumber.optional(),
  prompt: aText.nullish(),
  initialMessages: aList.nullish(),
});

/**
 * Shows the model everything until that exceeds a limit; then the older messages as one summary, and the last ones as they
 * are (Troupe's own; AutoGen has none). A summary is a model call of the turn that needs it, made from the summary before
 * it and the messages since. No message is deleted, and calls are never apart from their results.
 *
 * Tokens are estimated: four characters each.
 *
 * @throws ValueError unless `tokenLimit` and `keepLast` are above 0
 *
 * @example
 * const modelContext = new SummaryChatCompletionContext({ tokenLimit: 50_000 });
 */
export class SummaryChatCompletionContext extends BaseChatCompletionContext {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.model_context.SummaryChatCompletionContext",
    componentType: "chat_completion_context",
    role: "chat_completion_context",
    version: 1,
    configSchema,
    fromConfig: ({ model_client, token_limit, keep_last, prompt, initial_messages }, loader) =>
      new SummaryChatCompletionContext({
        modelClient:
          model_client && loader.load<ChatCompletionClient>(model_client, "model", "model_client"),
        tokenLimit: token_limit,
        keepLast: keep_last,
        prompt,
        initialMessages: initial_messages,
      }),
  });

  readonly definition = SummaryChatCompletionContext.component;
  readonly #client: ChatCompletionClient | null;
  readonly #limit: number | null;
  readonly #keepLast: number;
  readonly #prompt: string | null;
  #summary: Summary | null = null;
  /** That of the team whose model is called next. */
  #mark: string | undefined;

  constructor(options: SummaryContextOptions = {}) {
    const checked = checkOptions(optionsSchema, options, "SummaryChatCompletionContext");
    const { modelClient = null, tokenLimit = null, keepLast = KEEP_LAST, prompt = null } = checked;
    super(checked.initialMessages);
    this.#client = modelClient;
    this.#limit = tokenLimit === null ? null : requirePositive("token_limit", tokenLimit);
    this.#keepLast = requirePositive("keep_last", keepLast);
    this.#prompt = prompt;
  }

  /** Summarises if the next call needs it. A summary that fails leaves the messages as they are, with a note. */
  async prepare({ ctx, modelClient }: ModelCallAhead): Promise<void> {
    this.#mark = ctx.memory.mark;
    const limit = this.#limit ?? shareOf(modelClient);
    const start = this.#summary?.end ?? 0;
    const messages = this.slice(start);
    const tokens = total(messages) + textTokens(this.#summary?.text ?? "");
    if (tokens <= limit) return;
    const older = messages.slice(0, olderThan(messages, this.#keepLast, limit / 2));
    if (older.length === 0) return;
    try {
      const client = this.#client ?? modelClient;
      let text = this.#summary?.text ?? null;
      const readable = Math.max(limit * SLACK, shareOf(client));
      for (const [index, part] of partsOf(older, readable).entries()) {
        text = await this.#summarise(text, part, client, ctx.scope(`summary:${index}`));
      }
      this.#summary = { text: text ?? "", end: start + older.length };
    } catch (error) {
      rethrowSignal(error);
      ctx.note(`The conversation could not be summarised: ${errorMessage(error)}`);
    }
  }

  getMessages(): Promise<LLMMessage[]> {
    if (this.#summary === null) return Promise.resolve(this.ending(0).messages);
    const { text, end } = this.#summary;
    const summary: LLMMessage = {
      content: `Summary of the conversation before the messages that follow. ${asData("summary", text, { mark: this.#mark ?? processMark() })}`,
      source: "summary",
      type: "UserMessage",
    };
    return Promise.resolve([summary, ...wholeExchanges(this.slice(end))]);
  }

  override clear(): void {
    super.clear();
    this.#summary = null;
  }

  /** AutoGen loads this, too: it ignores the summary and has all messages. */
  override saveState(): JsonObject {
    const summary = this.#summary;
    return { ...super.saveState(), ...(summary && { troupe: { summary } }) };
  }

  override loadState(state: JsonObject): void {
    const { troupe } = parseState(stateSchema, state, "a model context's state");
    super.loadState(state);
    const summary = troupe?.summary;
    this.#summary = summary === undefined || summary.end > this.length ? null : summary;
  }

  override stateParts(): StateParts {
    const { head, ...parts } = super.stateParts();
    return {
      ...parts,
      head: {
        save: () => ({ summary: this.#summary, ...(head && { initial: head.save() }) }),
        load: (value: Json) => {
          const stored = value as { summary: Summary | null; initial?: Json };
          this.#summary = stored.summary;
          if (stored.initial !== undefined) head?.load(stored.initial);
        },
      },
      ...(this.#client && { children: modelClientPart(this.#client) }),
    };
  }

  protected ownConfig(): { [key: string]: unknown } {
    return {
      model_client: this.#client && dumpComponent(this.#client),
      token_limit: this.#limit,
      keep_last: this.#keepLast,
      prompt: this.#prompt,
    };
  }

  async #summarise(
    before: string | null,
    part: string,
    client: ChatCompletionClient,
    ctx: TurnContext,
  ): Promise<string> {
    const earlier = before === null ? "" : `${asData("summary", before, ctx.memory)}\n`;
    const task =
      before === null
        ? "Summarise the conversation."
        : "Write one summary of the earlier summary and the conversation since.";
    const { content } = await callModel(ctx, "model", client, [
      { type: "SystemMessage", content: this.#prompt ?? PROMPT },
      {
        type: "UserMessage",
        source: "user",
        content: `${earlier}${asData("conversation", part, ctx.memory)}\n${task}`,
      },
    ]);
    if (typeof content === "string" && content.trim() !== "") return content.trim();
    throw new TypeError("the model wrote no summary");
  }
}

function shareOf({ contextWindow = UNKNOWN_WINDOW }: ChatCompletionClient): number {
  return Math.floor(SHARE * contextWindow);
}

function total(messages: readonly LLMMessage[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message), 0);
}

function textTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The number of the oldest messages that leave the view: all but the last ones that fit. Results stay with their call. */
function olderThan(messages: readonly LLMMessage[], most: number, tokens: number): number {
  let first = messages.length;
  let kept = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as LLMMessage;
    kept += estimateTokens(message);
    const isFull = messages.length - index > most || kept > tokens;
    if (isFull && first < messages.length) break;
    if (!isResults(message)) first = index;
  }
  return first;
}

/** The messages as texts of at most this many tokens, a message never in two of them. */
function partsOf(messages: readonly LLMMessage[], tokens: number): string[] {
  const parts: string[] = [];
  let room = 0;
  for (const message of messages) {
    const text = `${beginningOf(textOf(message), LONGEST_PART)}\n\n`;
    const size = textTokens(text);
    if (parts.length === 0 || size > room) {
      parts.push(text);
      room = tokens - size;
    } else {
      parts[parts.length - 1] += text;
      room -= size;
    }
  }
  return parts;
}

function textOf(message: LLMMessage): string {
  const { content } = message;
  if (message.type === "SystemMessage") return `system: ${content as string}`;
  if (message.type === "FunctionExecutionResultMessage") {
    return message.content
      .map((result) => `result of ${result.name}: ${result.content}`)
      .join("\n");
  }
  const said = typeof content === "string" ? content : content.map(partText).join("\n");
  return `${message.source}: ${said}`;
}

function partText(part: Exclude<LLMMessage["content"], string>[number]): string {
  if (typeof part === "string") return part;
  if ("arguments" in part) return `calls ${part.name} with ${part.arguments}`;
  return "mime_type" in part ? "[file]" : "[image]";
}
