import { sha256Hex } from "../../hash.ts";
import * as z from "zod";
import { type ComponentModel, componentModelSchema } from "../../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
  withoutNulls,
} from "../../component/component.ts";
import { type JsonObject, sortedJson } from "../../json.ts";
import type { RetryPolicy } from "../../steps/retry.ts";
import type { StepSubject } from "../../steps/step-attempt.ts";
import type { StateParts, Stateful } from "../../state/stateful.ts";
import { type CacheStore, InMemoryStore } from "./cache-store.ts";
import type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  ToolSchema,
  WrittenOptions,
  WrittenRequest,
} from "../chat-completion-client.ts";
import { createResultSchema } from "../create-result.ts";
import type { RequestUsage } from "../request-usage.ts";
import type { LLMMessage } from "../llm-messages.ts";
import { modelClientPart } from "../model-client-part.ts";
import type { ModelInfo } from "../model-info.ts";
import { aModelClient, checkArgument, objectWith } from "../../options/options.ts";

const configSchema = z.object({
  client: componentModelSchema,
  store: componentModelSchema.nullish(),
});

/** `pieces`: the pieces in which the text of a streamed result arrived. */
const entrySchema = z.object({
  result: createResultSchema,
  pieces: z.array(z.string()).optional(),
});
type Entry = z.infer<typeof entrySchema>;

/**
 * A model client that stores the results of another one and answers repeated requests from the store (AutoGen
 * `ChatCompletionCache`). A stored result has `cached: true` and its original usage; it streams in its original pieces,
 * or in one piece if it was not streamed. Requests are equal when client, messages, tools, tool choice, output format
 * and extra arguments are.
 */
export class ChatCompletionCache implements ChatCompletionClient, Stateful {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.models.cache.ChatCompletionCache",
    componentType: "chat_completion_cache",
    role: "model",
    version: 1,
    configSchema,
    fromConfig: ({ client, store }, loader) =>
      new ChatCompletionCache(
        loader.load<ChatCompletionClient>(client, "model", "client"),
        store ? loader.load<CacheStore>(store, "cache_store", "store") : undefined,
      ),
  });

  readonly definition = ChatCompletionCache.component;
  readonly #client: ChatCompletionClient;
  readonly #store: CacheStore;
  /** Identifies the model: two models that share a store must not get each other's results. */
  #identity: ComponentModel | undefined;

  constructor(client: ChatCompletionClient, store: CacheStore = new InMemoryStore()) {
    this.#client = checkArgument(aModelClient, client, "ChatCompletionCache", "client");
    const kind = objectWith("a store, such as new InMemoryStore()", "get", "set");
    this.#store = checkArgument(kind, store, "ChatCompletionCache", "store");
  }

  get modelInfo(): ModelInfo {
    return this.#client.modelInfo;
  }

  get contextWindow(): number | undefined {
    return this.#client.contextWindow;
  }

  get subject(): StepSubject | undefined {
    return this.#client.subject;
  }

  retryPolicy(error: unknown): RetryPolicy | undefined {
    return this.#client.retryPolicy?.(error);
  }

  async create(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): Promise<CreateResult> {
    const key = await this.#key(messages, options);
    const existing = this.#find(key, options);
    if (existing !== undefined) return fromStore(existing.result);
    const result = await this.#client.create(messages, options);
    this.#keep(key, { result }, options);
    return result;
  }

  async *createStream(
    messages: readonly LLMMessage[],
    options: CreateOptions = {},
  ): AsyncGenerator<string, CreateResult, void> {
    const key = await this.#key(messages, options);
    const found = this.#find(key, options);
    if (found !== undefined) {
      const { content } = found.result;
      yield* found.pieces ?? (typeof content === "string" && content !== "" ? [content] : []);
      return fromStore(found.result);
    }
    const pieces: string[] = [];
    const { startOver } = options;
    const stream = withResult(
      this.#client.createStream(messages, {
        ...options,
        ...(startOver && {
          startOver: () => {
            pieces.length = 0;
            startOver();
          },
        }),
      }),
    );
    for await (const piece of stream.pieces) {
      pieces.push(piece);
      yield piece;
    }
    const result = stream.result();
    this.#keep(key, { result, pieces }, options);
    return result;
  }

  writeRequest(
    messages: readonly LLMMessage[],
    options: CreateOptions,
    written: WrittenOptions,
  ): WrittenRequest | undefined {
    return this.#client.writeRequest?.(messages, options, written);
  }

  countTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number> {
    return this.#client.countTokens(messages, tools);
  }

  answerLimit(options: CreateOptions): number | undefined {
    return this.#client.answerLimit?.(options);
  }

  remainingTokens(messages: readonly LLMMessage[], tools?: readonly ToolSchema[]): Promise<number> {
    return this.#client.remainingTokens(messages, tools);
  }

  /** Usage of the calls that were made; results from the store do not count. */
  totalUsage(): RequestUsage {
    return this.#client.totalUsage();
  }

  replayed(result: CreateResult, messages: readonly LLMMessage[]): void {
    if (!result.from_store) this.#client.replayed?.(result, messages);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  stateParts(): StateParts {
    return { children: modelClientPart(this.#client) };
  }

  toConfig(): JsonObject {
    const store = dumpComponent(this.#store);
    const isDefault =
      this.#store instanceof InMemoryStore && Object.keys(store.config).length === 0;
    return withoutNulls({
      client: dumpComponent(this.#client),
      store: isDefault ? null : store,
    });
  }

  async #key(messages: readonly LLMMessage[], options: CreateOptions): Promise<string> {
    const { tools = [], toolChoice = "auto", jsonOutput = null, extraCreateArgs = {} } = options;
    const stop = options.stop && { stop: options.stop };
    this.#identity ??= dumpComponent(this.#client);
    const client = this.#identity;
    const asked = messages.map(withoutMakerData);
    const request = {
      client,
      messages: asked,
      tools,
      toolChoice,
      jsonOutput,
      extraCreateArgs,
      ...stop,
    };
    return sha256Hex(sortedJson(request));
  }

  /** Undefined for an unreadable result, which another version or program may have written. */
  #find(key: string, { cache, fresh }: CreateOptions): Entry | undefined {
    const text = fresh ? undefined : this.#store.get(key, cache);
    if (text === undefined) return undefined;
    try {
      return entrySchema.parse(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  #keep(key: string, entry: Entry, { cache }: CreateOptions): void {
    this.#store.set(key, JSON.stringify(entry), cache);
  }
}

/** Provider data differs from answer to answer and is not part of the request's identity. */
function withoutMakerData(message: LLMMessage): LLMMessage {
  if (message.type !== "AssistantMessage") return message;
  const { troupe: _, ...rest } = message;
  return rest;
}

function fromStore(result: CreateResult): CreateResult {
  return { ...result, cached: true, from_store: true };
}

/** Makes a stream usable in a `for` loop, with its result afterwards. Leaving the loop closes the stream. */
function withResult(stream: AsyncGenerator<string, CreateResult, void>): {
  pieces: AsyncGenerator<string, void, void>;
  result(): CreateResult;
} {
  let result: CreateResult;
  async function* pieces(): AsyncGenerator<string, void, void> {
    result = yield* stream;
  }
  return { pieces: pieces(), result: () => result };
}
