import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutInnerNulls,
  withoutNulls,
} from "../../component/component.ts";
import type { Issue } from "../../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { StepSubject } from "../../steps/step-attempt.ts";
import type { StateParts, Stateful } from "../../state/stateful.ts";
import { isSameComponent } from "../../state/migrate-state.ts";
import { wait } from "../../wait.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
} from "../chat-completion-client.ts";
import { createResultSchema } from "../create-result.ts";
import { addUsage, type RequestUsage } from "../request-usage.ts";
import type { LLMMessage } from "../llm-messages.ts";
import { ModelError } from "../model-error.ts";
import { optionsOf, parseOptions } from "../../options/option-names.ts";
import { type ModelInfo, modelInfoSchema } from "../model-info.ts";
import {
  aBoolean,
  aNumber,
  anything,
  checkArgument,
  checkOptions,
  type OptionsSchema,
  valueThat,
} from "../../options/options.ts";

const DEFAULT_INFO: ModelInfo = {
  vision: false,
  functionCalling: false,
  jsonOutput: false,
  family: "unknown",
  structuredOutput: false,
};

const NEVER_ABORTED = new AbortController().signal;

/** The name its calls count under, unless an answer names a model. */
const MODEL = "replay";

/** The context window that AutoGen's replay client reports. */
const CONTEXT_WINDOW = 10_000;

/** Results are only checked to be objects: a program may share them with its own code. */
const answerSchema = valueThat(
  "a text or a model result",
  (answer) => typeof answer === "string" || isJsonObject(answer),
);
const answersSchema = valueThat(
  "a list of texts and model results, which are the answers in their order",
  Array.isArray,
).pipe(z.array(answerSchema));

const configSchema = z.object({
  chat_completions: z.array(z.union([z.string(), createResultSchema])),
  model_info: modelInfoSchema.nullish(),
  /** These two keys are Troupe's, not AutoGen's. */
  cycle: z.boolean().nullish(),
  chunk_delay_ms: z.int().min(0).max(10_000).nullish(),
});

export interface ReplayOptions {
  modelInfo?: ModelInfo | undefined;
  /** Starts over after the last answer, for demos without end. Default false. */
  cycle?: boolean | undefined;
  /** Milliseconds before each word of a streamed text, for demos that look alive. Default 0. */
  chunkDelayMs?: number | undefined;
}

/** A request that a replay client answered. */
export type ReplayCall = Pick<
  CreateOptions,
  "tools" | "toolChoice" | "jsonOutput" | "extraCreateArgs"
> & {
  messages: readonly LLMMessage[];
};

/** The calls that are kept, so that a team that runs for years does not hold all of its requests. */
const MAX_CALLS = 100;

const optionsSchema: OptionsSchema<ReplayOptions> = z.object({
  modelInfo: anything,
  cycle: aBoolean.optional(),
  chunkDelayMs: aNumber.optional(),
});

/**
 * A model that gives prepared answers in order (AutoGen `ReplayChatCompletionClient`), for tests and demos. Tokens are
 * words. Its position and usage are stored with the team, but are not part of AutoGen's state: loading one moves nothing.
 */
export class ReplayChatCompletionClient implements ChatCompletionClient, Stateful {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
    componentType: "replay_chat_completion_client",
    role: "model",
    version: 1,
    configSchema,
    fromConfig: ({ chat_completions, model_info, cycle, chunk_delay_ms }) =>
      new ReplayChatCompletionClient(chat_completions, {
        ...(model_info && { modelInfo: optionsOf(modelInfoSchema, model_info) }),
        cycle: cycle ?? false,
        chunkDelayMs: chunk_delay_ms ?? 0,
      }),
  });

  readonly contextWindow = CONTEXT_WINDOW;
  readonly definition = ReplayChatCompletionClient.component;
  readonly modelInfo: ModelInfo;
  readonly subject: StepSubject = { name: "replay", provider: "replay" };
  readonly #completions: readonly (string | CreateResult)[];
  readonly #modelInfoConfig: z.infer<typeof modelInfoSchema>;
  readonly #cycle: boolean;
  readonly #chunkDelayMs: number;
  readonly #calls: ReplayCall[] = [];
  #position = 0;
  #usage: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

  /** @throws ValueError for an invalid `modelInfo` */
  constructor(completions: readonly (string | CreateResult)[], options: ReplayOptions = {}) {
    const owner = "ReplayChatCompletionClient";
    const checked = checkOptions(optionsSchema, options, owner);
    const { modelInfo = DEFAULT_INFO, cycle = false, chunkDelayMs = 0 } = checked;
    this.#completions = checkArgument(answersSchema, completions, owner, "completions");
    this.modelInfo = modelInfo;
    this.#modelInfoConfig = parseOptions(modelInfoSchema, modelInfo, "modelInfo");
    this.#cycle = cycle;
    this.#chunkDelayMs = chunkDelayMs;
  }

  /**
   * The last 100 requests that it answered, oldest first, for assertions in tests (AutoGen `create_calls`). They are not
   * stored: after a restart the list is empty.
   */
  get calls(): readonly ReplayCall[] {
    return this.#calls;
  }

  /** @throws ModelError `exhausted` after the last answer */
  create(messages: readonly LLMMessage[], options: CreateOptions = {}): Promise<CreateResult> {
    try {
      const prompt = countWords(messages);
      const result = this.#next(prompt);
      this.#answered(prompt, result);
      this.#keepCall(messages, options);
      return Promise.resolve(result);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * A text is streamed word by word, any other answer as a whole. An answer that is not read to its end is repeated.
   */
  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const { signal = NEVER_ABORTED, flush } = options;
    const completion = this.#completions[this.#index()];
    const prompt = countWords(messages);
    const result = this.#next(prompt);
    for (const piece of typeof completion === "string" ? pieces(words(completion)) : []) {
      if (this.#chunkDelayMs > 0) {
        flush?.();
        await wait(this.#chunkDelayMs, signal);
      }
      yield piece;
    }
    this.#answered(prompt, result);
    this.#keepCall(messages, options);
    return result;
  }

  countTokens(messages: readonly LLMMessage[]): Promise<number> {
    return Promise.resolve(countWords(messages));
  }

  remainingTokens(): Promise<number> {
    const { prompt_tokens, completion_tokens } = this.#usage;
    return Promise.resolve(Math.max(0, CONTEXT_WINDOW - prompt_tokens - completion_tokens));
  }

  totalUsage(): RequestUsage {
    return this.#usage;
  }

  replayed(result: CreateResult, messages: readonly LLMMessage[]): void {
    this.#answered(countWords(messages), result);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  /** A position is meaningless in a different list of answers. */
  migrateFrom(previous: Stateful): Issue[] {
    if (previous instanceof ReplayChatCompletionClient && isSameComponent(this, previous)) {
      this.#position = previous.#position;
      this.#usage = previous.#usage;
    }
    return [];
  }

  stateParts(): StateParts {
    return {
      head: {
        save: () => ({ position: this.#position, usage: { ...this.#usage } }),
        load: (head: Json) => {
          const { position, usage } = head as { position: number; usage: RequestUsage };
          this.#position = position;
          this.#usage = usage;
        },
      },
    };
  }

  toConfig(): JsonObject {
    return withoutNulls({
      chat_completions: this.#completions.map((completion) =>
        typeof completion === "string" ? completion : withoutInnerNulls(completion),
      ),
      model_info: withoutNulls(this.#modelInfoConfig),
      cycle: this.#cycle ? true : null,
      chunk_delay_ms: this.#chunkDelayMs > 0 ? this.#chunkDelayMs : null,
    });
  }

  #index(): number {
    const { length } = this.#completions;
    return this.#cycle && length > 0 ? this.#position % length : this.#position;
  }

  #next(prompt_tokens: number): CreateResult {
    const completion = this.#completions[this.#index()];
    if (completion === undefined) {
      throw new ModelError("exhausted", "No more mock responses available");
    }
    if (typeof completion !== "string") return { model: MODEL, ...completion };
    return {
      finish_reason: "stop",
      content: completion,
      model: MODEL,
      usage: { prompt_tokens, completion_tokens: words(completion).length },
      cached: true,
    };
  }

  #keepCall(
    messages: readonly LLMMessage[],
    { tools, toolChoice, jsonOutput, extraCreateArgs }: CreateOptions,
  ): void {
    if (this.#calls.length === MAX_CALLS) this.#calls.shift();
    this.#calls.push({ messages: [...messages], tools, toolChoice, jsonOutput, extraCreateArgs });
  }

  #answered(prompt_tokens: number, { usage: { completion_tokens } }: CreateResult): void {
    this.#position++;
    this.#usage = addUsage(this.#usage, { prompt_tokens, completion_tokens });
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function* pieces(all: readonly string[]): Generator<string> {
  for (const [index, word] of all.entries()) yield index < all.length - 1 ? `${word} ` : word;
}

/** Cached: a message never changes, and every call counts all earlier messages again. */
const counted = new WeakMap<LLMMessage, number>();

/** Contents that are lists (calls, results, pictures) count as zero. */
function countWords(messages: readonly LLMMessage[]): number {
  let total = 0;
  for (const message of messages) {
    let count = counted.get(message);
    if (count === undefined) {
      count = typeof message.content === "string" ? words(message.content).length : 0;
      counted.set(message, count);
    }
    total += count;
  }
  return total;
}
