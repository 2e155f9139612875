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
import type { JsonObject } from "../json.ts";
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
} from "../options.ts";
import type { RunObserver } from "../run/run-observer.ts";
import { ItemLog } from "../state/item-log.ts";
import type { StateParts } from "../state/stateful.ts";
import { rethrowSignal } from "../steps/signals.ts";
import type { StreamTool } from "../tools/tool.ts";
import { callModel } from "../turn/call-model.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { EmbeddingClient } from "../memory/embedding-client.ts";
import { extractionRequest, type Heard, heardIn, readFacts } from "./extraction.ts";
import { type MemoryContent, searchText } from "../memory/memory-content.ts";
import type { MemoryScope } from "../memory/memory-host.ts";
import { memoryBindingNotes } from "./memory-binding.ts";
import { MemoryTool } from "./memory-tool.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";
import { metadataFilterSchema } from "../memory/memory-schemas.ts";
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
  writable: z.boolean().default(false),
  extract: z
    .object({ model_client: componentModelSchema, prompt: z.string().min(1).nullish() })
    .nullish(),
});

/** How a memory learns from a run by itself. */
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
  /** What was said since the run began; nothing without `extract`. */
  readonly #heard = new ItemLog<Heard>();
  /** The message that a fact in the current turn is from. */
  #latest: string | null = null;

  /** @throws ValueError for invalid options */
  constructor(options: VectorMemoryOptions = {}) {
    const given = checkOptions(optionsSchema, options, "VectorMemory");
    const { scope = "team", embedding = null, collection = null, filter = null } = given;
    const { scoreThreshold = null, writable = false } = given;
    const k = requirePositive("k", given.k ?? 5);
    super({
      name: given.name || "vector_memory",
      scope,
      collection,
      embedding,
      options: { k, scoreThreshold, filter },
      order: "best",
      withIds: writable,
    });
    this.#config = { ...given, k, scope };
    this.tools = writable ? this.#tools() : [];
  }

  observe(messages: readonly ChatMessage[]): void {
    this.#latest = messages.at(-1)?.id ?? this.#latest;
    if (this.#config.extract != null) this.#heard.append(...heardIn(messages));
  }

  runBegins(): void {
    this.#heard.clear();
  }

  /** Learns from the run. A failure is noted and fails nothing. */
  async runEnds(ctx: TurnContext): Promise<void> {
    const { extract } = this.#config;
    const heard = this.#heard.slice();
    this.#heard.clear();
    if (extract == null || heard.length === 0) return;
    try {
      await this.#learn(extract, heard, ctx);
    } catch (error) {
      rethrowSignal(error);
      ctx.note(`"${this.name}" learned nothing from this run: ${errorMessage(error)}`);
    }
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

  async #learn(
    { modelClient, prompt = null }: ExtractOptions,
    heard: readonly Heard[],
    ctx: TurnContext,
  ): Promise<void> {
    const question = heard
      .map(({ text }) => text)
      .join("\n")
      .slice(-LONGEST_QUESTION);
    const known = await this.entries.recall({ text: question, k: MOST_KNOWN }, ctx);
    if (known === undefined) return;
    const texts = known.hits.map(({ entry }) => searchText(entry.content));
    const request = extractionRequest(heard, texts, prompt);
    const { jsonOutput } = modelClient.modelInfo;
    const { content } = await callModel(ctx, "extract", modelClient, request, {
      ...(jsonOutput && { jsonOutput }),
      patience: PATIENCE,
    });
    if (typeof content !== "string") throw new TypeError("the model answered with tool calls");
    const facts = readFacts(content, heard);
    const learned = facts.map(({ text, message }) => ({ content: textContent(text), message }));
    if (learned.length > 0) await this.entries.put(learned, ctx, { renew: true });
  }

  #tools(): StreamTool[] {
    const missing = "There is no memory to write to in this run.";
    return [
      new MemoryTool(this.definition, {
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
      new MemoryTool(this.definition, {
        name: "forget",
        description: "Removes one entry from your long-term memory, by its id.",
        parameters: z.object({
          id: z.string().min(1).describe("The id that the entry is shown with."),
        }),
        run: async ({ id }, { ctx }) => {
          const known = await this.entries.forget(id, ctx);
          if (known === undefined) return missing;
          return known ? "Forgotten." : `There is no entry with the id ${id}.`;
        },
      }),
    ];
  }
}

function textContent(content: string): MemoryContent {
  return { content, mime_type: "text/plain", metadata: null };
}
