import type { Component } from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { ValueError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { StateParts } from "../state/stateful.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { asData } from "../memory/as-data.ts";
import type { Memory } from "./memory.ts";
import { type MemoryContent, questionIn, searchText } from "../memory/memory-content.ts";
import { contentText, isPicture } from "../memory/memory-schemas.ts";
import type { Recalled, RecallQuery } from "../memory/memory-host.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";
import type { EmbeddingUse } from "./embedding-use.ts";
import { ScopedMemory, type ScopedMemoryOptions } from "./scoped-memory.ts";

/** Options of one query; each overrides the memory's setting. */
export interface RecallOptions {
  /** The most contents to return. */
  k?: number | undefined;
  /** Contents whose meaning is less similar are left out. With words only it does not apply. */
  scoreThreshold?: number | null | undefined;
  filter?: MetadataFilter | null | undefined;
}

export interface RecallMemorySettings extends ScopedMemoryOptions {
  options: { k: number; scoreThreshold: number | null; filter: MetadataFilter | null };
  order: RecallQuery["order"];
  /** True if the model reads the ids of the contents, with which it can name them. */
  withIds: boolean;
  /** The score for a similarity of -1 to 1. Default: the similarity. */
  scoreOf?: ((similarity: number) => number) | undefined;
}

/** Base of memories whose contents are in the stores of their host: recalls those that fit the last message. */
export abstract class RecallMemory implements Memory {
  abstract readonly definition: Component["definition"];
  readonly name: string;
  protected readonly entries: ScopedMemory;
  readonly #settings: RecallMemorySettings;

  protected constructor(settings: RecallMemorySettings) {
    this.name = settings.name;
    this.entries = new ScopedMemory(settings);
    this.#settings = settings;
  }

  abstract toConfig(): JsonObject;

  /** The embedding of its contents; undefined if it compares words only. */
  get embeds(): EmbeddingUse | undefined {
    return this.entries.embeds;
  }

  /** Queries with the last message and adds the results as one system message, marked as data. */
  async updateContext(context: ChatCompletionContext, ctx: TurnContext): Promise<MemoryContent[]> {
    const question = questionIn(await context.getMessages());
    if (question === undefined) return [];
    const found = await this.query(question, ctx);
    if (found.length > 0) {
      const { order, withIds } = this.#settings;
      const lines = found.map(({ content, metadata }, index) => {
        const id = withIds ? `[id ${metadata?.["id"] as string}] ` : "";
        return `${index + 1}. ${id}${contentText(content)}`;
      });
      const first = order === "latest" ? "newest" : "best match";
      context.addMessage({
        content: `\nRelevant memory content (${first} first). ${asData("memory", lines.join("\n"), ctx.memory)}`,
        type: "SystemMessage",
      });
    }
    return found;
  }

  /** The contents that fit the query, best first, with their `score` and `id` in their metadata. */
  async query(
    query: string | MemoryContent,
    ctx: TurnContext,
    options: RecallOptions = {},
  ): Promise<MemoryContent[]> {
    const { order, scoreOf = (similarity) => similarity, options: defaults } = this.#settings;
    const { k, scoreThreshold, filter } = { ...defaults, ...options };
    const text = typeof query === "string" ? query : searchText(query.content);
    const result = await this.entries.recall({ text, k, filter, order }, ctx);
    if (result === undefined) return [];
    const { hits, mode } = result;
    const applies = scoreThreshold !== null && mode === "hybrid";
    if (scoreThreshold !== null && !applies && hits.length > 0 && order !== "latest") {
      ctx.note(`"${this.name}" compares no meanings, so its threshold does not apply`);
    }
    return hits.flatMap((hit): MemoryContent[] => {
      const score = hit.similarity === null ? (hit.words ?? hit.score) : scoreOf(hit.similarity);
      if (applies && hit.similarity !== null && score < scoreThreshold) return [];
      return [contentOf(hit, score)];
    });
  }

  /** @throws ValueError for a picture */
  async add(content: MemoryContent, ctx: TurnContext): Promise<void> {
    if (isPicture(content.content)) {
      const issue = { path: "content", message: "is a picture; memories hold texts and JSON" };
      throw new ValueError(`content ${issue.message}`, { issues: [issue] });
    }
    await this.entries.put([{ content, message: null }], ctx, { renew: false });
  }

  clear(ctx: TurnContext): Promise<void> {
    this.entries.clear(ctx);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The contents are not a part of the state: they are stored beside it. */
  saveState(): JsonObject {
    return {};
  }

  loadState(): void {}

  stateParts(): StateParts {
    return {};
  }
}

function contentOf({ entry }: Recalled, score: number): MemoryContent {
  const { id, content, mime_type, metadata } = entry;
  return { content, mime_type, metadata: { ...metadata, score, id } };
}
