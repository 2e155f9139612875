import { endOf } from "../cut.ts";
import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
  withoutNulls,
} from "../component/component.ts";
import { requirePositive } from "../context/base-chat-completion-context.ts";
import { errorMessage } from "../errors.ts";
import { asJson, type Json, type JsonObject } from "../json.ts";
import type { ChatMessage } from "../messages/message.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import { modelClientPart } from "../models/model-client-part.ts";
import {
  aBoolean,
  aModelClient,
  aNumber,
  aText,
  checkOptions,
  objectWith,
  type OptionsSchema,
} from "../options/options.ts";
import type { RunObserver, Unfinished } from "../run/run-observer.ts";
import { ItemLog } from "../state/item-log.ts";
import type { StateParts } from "../state/stateful.ts";
import { isPassing } from "../steps/passing-error.ts";
import { rethrowSignal } from "../steps/signals.ts";
import type { StreamTool } from "../tools/tool.ts";
import { callModel } from "../turn/call-model.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { EmbeddingClient } from "../memory/embedding-client.ts";
import {
  extractionRequest,
  type Fact,
  type Heard,
  heardIn,
  latestOf,
  type Lesson,
  lessonSchema,
  readFacts,
} from "./extraction.ts";
import { type MemoryContent, searchText } from "../memory/memory-content.ts";
import type { MemoryScope } from "../memory/memory-host.ts";
import { memoryBindingNotes } from "./memory-binding.ts";
import { OwnTool } from "../tools/function/own-tool.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";
import { metadataFilterSchema, textLanguageSchema } from "../memory/memory-schemas.ts";
import type { TextLanguage } from "../search/languages.ts";
import { RecallMemory } from "./recall-memory.ts";
import { PATIENCE } from "./scoped-memory.ts";

const SCOPES = ["team", "user", "tenant"] as const satisfies MemoryScope[];

/** Facts that are shown to the model that looks for new ones. */
const MOST_KNOWN = 20;
/** The end of a conversation by which known facts are looked up, in characters. */
const LONGEST_QUESTION = 4000;

const configSchema = z.object({
  name: z.string().nullish(),
  collection: z.string().min(1).max(200).nullish(),
  scope: z.enum(SCOPES).default("team"),
  embedding: componentModelSchema.nullish(),
  k: z.int().min(1).max(100).default(5),
  score_threshold: z.number().min(-1).max(1).nullish(),
  filter: metadataFilterSchema.nullish(),
  language: textLanguageSchema.optional(),
  writable: z.boolean().default(false),
  extract: z
    .object({ model_client: componentModelSchema, prompt: z.string().min(1).nullish() })
    .nullish(),
});

/** The settings of a memory that learns from a run by itself. */
export interface ExtractOptions {
  /** Finds the facts. */
  modelClient: ChatCompletionClient;
  /** Instructions in the place of the default ones; the form of the answer is added. */
  prompt?: string | null | undefined;
}

export interface VectorMemoryOptions {
  name?: string | null | undefined;
  /** Separates its contents from those of other memories of the scope. Default: all are read. */
  collection?: string | null | undefined;
  /** Default `team`. */
  scope?: MemoryScope | undefined;
  /** Compares meanings. Without it words decide. */
  embedding?: EmbeddingClient | null | undefined;
  /** The most contents that a query returns. Default 5. */
  k?: number | undefined;
  /** Contents whose cosine similarity to the query is less are left out. */
  scoreThreshold?: number | null | undefined;
  filter?: MetadataFilter | null | undefined;
  /** The language of its contents, whose word endings are known: `auto`, the default, or a code such as `de`. */
  language?: TextLanguage | undefined;
  /** Gives the agent the tools `remember` and `forget`. Default false. */
  writable?: boolean | undefined;
  /** Facts are learned from each completed run. */
  extract?: ExtractOptions | null | undefined;
}

const optionsSchema: OptionsSchema<VectorMemoryOptions> = z.object({
  name: aText.nullish(),
  collection: aText.nullish(),
  scope: z.enum(SCOPES).optional(),
  embedding: objectWith(
    'an embedding client, such as new OpenAIEmbeddingClient({ apiKey: "env:OPENAI_API_KEY" })',
    "embed",
  ).nullish(),
  k: aNumber.optional(),
  scoreThreshold: aNumber.nullish(),
  filter: metadataFilterSchema.nullish(),
  language: textLanguageSchema.optional(),
  writable: aBoolean.optional(),
  extract: z.strictObject({ modelClient: aModelClient, prompt: aText.nullish() }).nullish(),
});

/**
 * Remembers for a team, its user or its tenant, and recalls by words and by meaning. An agent may edit it with tools, and it
 * may learn from runs by itself.
 *
 * @example
 * const memory = new VectorMemory({ scope: "user", embedding: new OpenAIEmbeddingClient(), writable: true });
 */
export class VectorMemory extends RecallMemory implements RunObserver {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.VectorMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: ({ score_threshold, embedding, extract, ...config }, loader) =>
      new VectorMemory({
        ...config,
        scoreThreshold: score_threshold,
        embedding: embedding && loader.load<EmbeddingClient>(embedding, "embedding", "embedding"),
        extract: extract && {
          modelClient: loader.load<ChatCompletionClient>(
            extract.model_client,
            "model",
            "extract.model_client",
          ),
          prompt: extract.prompt,
        },
      }),
    notes: ({ embedding, scope }, loader) => [
      ...(embedding == null
        ? [{ path: "config.embedding", message: "is not given: the memory recalls by words only" }]
        : []),
      ...(scope === "team"
        ? []
        : memoryBindingNotes(loader, "config.scope", "the memory recalls and stores nothing")),
    ],
  });

  readonly definition = VectorMemory.component;
  readonly tools: readonly StreamTool[];
  readonly #config: VectorMemoryOptions & { k: number; scope: MemoryScope };
  /** The messages since the run began; empty without `extract`. */
  readonly #heard = new ItemLog<Heard>();
  /** The message that a fact in the current turn is from. */
  #latest: string | null = null;

  /** @throws ValueError for invalid options */
  constructor(options: VectorMemoryOptions = {}) {
    const checked = checkOptions(optionsSchema, options, "VectorMemory");
    const { scope = "team", embedding = null, collection = null, filter = null } = checked;
    const { scoreThreshold = null, writable = false } = checked;
    const k = requirePositive("k", checked.k ?? 5);
    super({
      name: checked.name || "vector_memory",
      scope,
      collection,
      embedding,
      language: checked.language,
      options: { k, scoreThreshold, filter },
      order: "best",
      withIds: writable,
    });
    this.#config = { ...checked, k, scope };
    this.tools = writable ? this.#tools() : [];
  }

  observe(messages: readonly ChatMessage[]): void {
    this.#latest = messages.at(-1)?.id ?? this.#latest;
    if (this.#config.extract != null) this.#heard.append(...heardIn(messages));
  }

  runBegins(): void {
    this.#heard.clear();
  }

  /** Learns from the run. A failure is noted and fails nothing; one that passes leaves the rest for later. */
  async runEnds(ctx: TurnContext): Promise<Unfinished | undefined> {
    const heard = this.#heard.slice();
    this.#heard.clear();
    if (this.#config.extract == null || heard.length === 0) return undefined;
    return this.#learn({ heard: latestOf(heard), facts: null }, ctx);
  }

  finish(todo: Json, ctx: TurnContext): Promise<Unfinished | undefined> {
    return this.#learn(lessonSchema.parse(todo), ctx);
  }

  override loadState(): void {
    this.#heard.clear();
  }

  override stateParts(): StateParts {
    const { extract } = this.#config;
    if (extract == null) return {};
    return { logs: { heard: this.#heard }, children: modelClientPart(extract.modelClient) };
  }

  toConfig(): JsonObject {
    const { embedding, extract, scoreThreshold, writable = false, ...config } = this.#config;
    return withoutNulls({
      ...config,
      name: this.name,
      embedding: embedding && dumpComponent(embedding),
      score_threshold: scoreThreshold,
      writable,
      extract:
        extract &&
        withoutNulls({ model_client: dumpComponent(extract.modelClient), prompt: extract.prompt }),
    });
  }

  async #learn(lesson: Lesson, ctx: TurnContext): Promise<Unfinished | undefined> {
    const { extract } = this.#config;
    if (extract == null) return undefined;
    const rest = { ...lesson };
    try {
      rest.facts ??= await this.#factsIn(lesson.heard, extract, ctx);
      const learned = rest.facts.map(({ text, message }) => ({
        content: textContent(text),
        message,
      }));
      if (learned.length > 0) await this.entries.put(learned, ctx, { renew: true });
      return undefined;
    } catch (error) {
      rethrowSignal(error);
      const note = `"${this.name}" learned nothing from this run: ${errorMessage(error)}`;
      if (isPassing(error)) return { todo: asJson(rest), note };
      ctx.note(note);
      return undefined;
    }
  }

  /** Asks the model for the facts in what was heard; none if the run has no such memory. */
  async #factsIn(
    heard: readonly Heard[],
    { modelClient, prompt = null }: ExtractOptions,
    ctx: TurnContext,
  ): Promise<Fact[]> {
    const question = endOf(heard.map(({ text }) => text).join("\n"), LONGEST_QUESTION);
    const existing = await this.entries.find({ text: question, k: MOST_KNOWN }, ctx);
    if (existing === undefined) return [];
    const texts = existing.hits.map(({ entry }) => searchText(entry.content));
    const request = extractionRequest(heard, texts, prompt, ctx.memory);
    const { jsonOutput } = modelClient.modelInfo;
    const { content } = await callModel(ctx, "extract", modelClient, request, {
      ...(jsonOutput && { jsonOutput }),
      patience: PATIENCE,
    });
    if (typeof content !== "string") throw new TypeError("the model answered with tool calls");
    return readFacts(content, heard);
  }

  #tools(): StreamTool[] {
    const missing = "There is no memory to write to in this run.";
    return [
      new OwnTool(this.definition, {
        name: "remember",
        description:
          "Stores one fact in your long-term memory, for later conversations. A fact that is stored already is updated.",
        parameters: z.object({
          content: z.string().min(1).describe("One sentence that is understood by itself."),
        }),
        run: async ({ content }, { ctx }) => {
          const learned = { content: textContent(content), message: this.#latest };
          const ids = await this.entries.put([learned], ctx, { renew: true });
          return ids === undefined ? missing : `Remembered, with the id ${ids[0]}.`;
        },
      }),
      new OwnTool(this.definition, {
        name: "forget",
        description: "Removes one entry from your long-term memory, by its id.",
        parameters: z.object({
          id: z.string().min(1).describe("The id that the entry is shown with."),
        }),
        run: async ({ id }, { ctx }) => {
          const existed = await this.entries.forget(id, ctx);
          if (existed === undefined) return missing;
          return existed ? "Forgotten." : `There is no entry with the id ${id}.`;
        },
      }),
    ];
  }
}

function textContent(content: string): MemoryContent {
  return { content, mime_type: "text/plain", metadata: null };
}
