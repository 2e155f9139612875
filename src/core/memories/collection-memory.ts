import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { requirePositive } from "../context/base-chat-completion-context.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { errorMessage, ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import { aNumber, aText, checkOptions, type OptionsSchema } from "../options/options.ts";
import type { StateParts } from "../state/stateful.ts";
import { rethrowSignal } from "../steps/signals.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { citationOf, collectionSchema, passages, searchCollection } from "./collection-search.ts";
import { memoryBindingNotes } from "./memory-binding.ts";
import type { Memory } from "./memory.ts";
import { type MemoryContent, questionIn, searchText } from "../memory/memory-content.ts";
import type { Citation, CollectionResult, FoundChunk } from "../memory/memory-host.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";
import { metadataFilterSchema } from "../memory/memory-schemas.ts";

const configSchema = z.object({
  name: z.string().nullish(),
  collection: collectionSchema,
  k: z.int().min(1).max(100).default(5),
  score_threshold: z.number().nullish(),
  filter: metadataFilterSchema.nullish(),
});

export interface CollectionMemoryOptions {
  name?: string | null | undefined;
  /** A collection of documents of the tenant. */
  collection: string;
  /** The most parts of documents that a query returns. Default 5. */
  k?: number | undefined;
  /** Parts with a lower score are left out. With words only it does not apply. */
  scoreThreshold?: number | null | undefined;
  /** Metadata that the documents must have. */
  filter?: MetadataFilter | null | undefined;
}

const optionsSchema: OptionsSchema<CollectionMemoryOptions> = z.object({
  name: aText.nullish(),
  collection: aText,
  k: aNumber.optional(),
  scoreThreshold: aNumber.nullish(),
  filter: metadataFilterSchema.nullish(),
});

/**
 * Gives the model the parts of documents that fit the last message. The agent's answer cites them: `metadata.citations`.
 *
 * @example
 * const memory = new CollectionMemory({ collection: "handbook", k: 3 });
 */
export class CollectionMemory implements Memory {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.CollectionMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: ({ score_threshold, ...config }) =>
      new CollectionMemory({ ...config, scoreThreshold: score_threshold }),
    notes: (_config, loader) =>
      memoryBindingNotes(loader, "config.collection", "the memory recalls nothing"),
  });

  readonly definition = CollectionMemory.component;
  readonly name: string;
  readonly #collection: string;
  readonly #k: number;
  readonly #threshold: number | null;
  readonly #filter: MetadataFilter | null;

  /** @throws ValueError for invalid options */
  constructor(options: CollectionMemoryOptions) {
    const checked = checkOptions(optionsSchema, options, "CollectionMemory");
    this.name = checked.name || "collection_memory";
    this.#collection = checked.collection;
    this.#k = requirePositive("k", checked.k ?? 5);
    this.#threshold = checked.scoreThreshold ?? null;
    this.#filter = checked.filter ?? null;
  }

  async updateContext(
    context: ChatCompletionContext,
    ctx: TurnContext,
    cite?: (citations: readonly Citation[]) => void,
  ): Promise<MemoryContent[]> {
    const question = questionIn(await context.getMessages());
    if (question === undefined) return [];
    const found = await this.#search(question, ctx);
    if (found.length === 0) return [];
    const content = `\nRelevant parts of documents (best match first). ${passages(found, ctx)}`;
    context.addMessage({ content, type: "SystemMessage" });
    cite?.(found.map((chunk) => citationOf(this.#collection, chunk)));
    return found.map((chunk) => this.#contentOf(chunk));
  }

  async query(query: string | MemoryContent, ctx: TurnContext): Promise<MemoryContent[]> {
    const text = typeof query === "string" ? query : searchText(query.content);
    return (await this.#search(text, ctx)).map((chunk) => this.#contentOf(chunk));
  }

  /** @throws ValueError always: documents are put into a collection over the API */
  add(): Promise<void> {
    return Promise.reject(
      new ValueError(
        `"${this.name}" reads documents; put one with PUT /v1/collections/${this.#collection}/documents/{id}`,
      ),
    );
  }

  /** @throws ValueError always: the documents are the tenant's, not the agent's */
  clear(): Promise<void> {
    return Promise.reject(
      new ValueError(
        `"${this.name}" reads documents of the tenant; delete them with DELETE /v1/collections/${this.#collection}`,
      ),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  stateParts(): StateParts {
    return {};
  }

  toConfig(): JsonObject {
    return withoutNulls({
      name: this.name,
      collection: this.#collection,
      k: this.#k,
      score_threshold: this.#threshold,
      filter: this.#filter,
    });
  }

  /** A collection that cannot be read is not a reason to fail a run. */
  async #search(q: string, ctx: TurnContext): Promise<FoundChunk[]> {
    if (q.trim() === "") return [];
    const query = { collection: this.#collection, q, k: this.#k, filter: this.#filter };
    try {
      return this.#aboveThreshold(await searchCollection(query, ctx.scope(ctx.id())), ctx);
    } catch (error) {
      rethrowSignal(error);
      ctx.note(
        `"${this.name}" could not search the collection "${this.#collection}": ${errorMessage(error)}`,
      );
      return [];
    }
  }

  #aboveThreshold({ results, mode, note }: CollectionResult, ctx: TurnContext): FoundChunk[] {
    if (note !== undefined) ctx.note(`"${this.name}": ${note}`);
    const least = this.#threshold;
    if (least === null || results.length === 0) return results;
    if (mode === "hybrid") return results.filter(({ score }) => score >= least);
    ctx.note(`"${this.name}" compares no meanings, so its threshold does not apply`);
    return results;
  }

  #contentOf(chunk: FoundChunk): MemoryContent {
    const { content, score } = chunk;
    const metadata = { ...citationOf(this.#collection, chunk), score };
    return { content, mime_type: "text/plain", metadata };
  }
}
