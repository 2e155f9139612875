import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { requirePositive } from "../context/base-chat-completion-context.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import { ValueError } from "../errors.ts";
import { asJson, type Json, type JsonObject } from "../json.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { TextLanguage } from "../search/languages.ts";
import { type Analysis, type Tokenizer, TOKENIZERS } from "../search/tokens.ts";
import { SearchableLog } from "../state/searchable-log.ts";
import type { StateParts } from "../state/stateful.ts";
import type { Memory } from "./memory.ts";
import { type MemoryContent, questionIn, searchText } from "../memory/memory-content.ts";
import {
  contentText,
  isPicture,
  loadContents,
  memoryContentsSchema,
  metadataFilterSchema,
  textLanguageSchema,
} from "../memory/memory-schemas.ts";
import { type MetadataFilter, matchesFilter } from "../memory/metadata-filter.ts";
import { aList, aNumber, aText, checkOptions, type OptionsSchema } from "../options/options.ts";

const configSchema = z.object({
  name: z.string().nullish(),
  k: z.int().min(1).max(100).default(5),
  score_threshold: z.number().nullish(),
  filter: metadataFilterSchema.nullish(),
  tokenizer: z.enum(TOKENIZERS).default("porter"),
  language: textLanguageSchema.optional(),
  memory_contents: memoryContentsSchema.default([]),
});

/** Options of one query; each overrides the memory's setting. */
export interface FullTextQueryOptions {
  /** The most contents to return. */
  k?: number | undefined;
  /** Contents with a lower score are left out. */
  scoreThreshold?: number | null | undefined;
  filter?: MetadataFilter | null | undefined;
}

export interface FullTextMemoryOptions extends FullTextQueryOptions {
  name?: string | null | undefined;
  /** Default `porter`. */
  tokenizer?: Tokenizer | undefined;
  /** The language of its contents, whose word endings are known: `auto`, the default, or a code such as `de`. */
  language?: TextLanguage | undefined;
  /** The initial contents, until it is cleared. */
  contents?: readonly MemoryContent[] | undefined;
}

const optionsSchema: OptionsSchema<FullTextMemoryOptions> = z.object({
  name: aText.nullish(),
  k: aNumber.optional(),
  scoreThreshold: aNumber.nullish(),
  filter: metadataFilterSchema.nullish(),
  tokenizer: z.enum(TOKENIZERS).optional(),
  language: textLanguageSchema.optional(),
  contents: aList.optional(),
});

/**
 * Stores any number of texts and gives the model those that share words with the last message, best match first. In a
 * Durable Object they are in the team's SQLite, indexed by FTS5; a query reads its matches, not the whole memory.
 * Queries of a turn find its own additions at once; they are stored when the turn commits.
 *
 * @throws ValueError for contents that are pictures, and unless `k` is above 0
 *
 * @example
 * const memory = new FullTextMemory({ k: 3, filter: { category: "preferences" } });
 */
export class FullTextMemory implements Memory {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.memory.FullTextMemory",
    componentType: "memory",
    role: "memory",
    version: 1,
    configSchema,
    fromConfig: ({ score_threshold, memory_contents, ...config }) =>
      new FullTextMemory({
        ...config,
        scoreThreshold: score_threshold ?? null,
        filter: config.filter ?? null,
        contents: memory_contents,
      }),
  });

  readonly definition = FullTextMemory.component;
  readonly name: string;
  readonly #analysis: Analysis;
  readonly #options: Required<FullTextQueryOptions>;
  readonly #initial: readonly MemoryContent[];
  readonly #contents: SearchableLog<MemoryContent>;
  /** True if the log holds all contents. Until then the memory consists of the initial contents, if any. */
  #isStored = false;

  constructor(options: FullTextMemoryOptions = {}) {
    checkOptions(optionsSchema, options, "FullTextMemory");
    const { name, tokenizer = "porter", language, contents = [] } = options;
    this.name = name || "full_text_memory";
    this.#analysis = { tokenizer, language };
    this.#options = {
      k: requirePositive("k", options.k ?? 5),
      scoreThreshold: options.scoreThreshold ?? null,
      filter: options.filter ?? null,
    };
    this.#initial = contents;
    for (const [index, content] of contents.entries()) {
      requireText(content, `memory_contents[${index}]`);
    }
    const textOf = ({ content }: MemoryContent): string => searchText(content);
    this.#contents = new SearchableLog({ ...this.#analysis, textOf }, memoryContentsSchema.element);
  }

  /** Queries with the last message and adds the results as one system message. */
  async updateContext(context: ChatCompletionContext, ctx: TurnContext): Promise<MemoryContent[]> {
    const question = questionIn(await context.getMessages());
    if (question === undefined) return [];
    const found = await this.query(question, ctx);
    if (found.length > 0) {
      const lines = found.map(({ content }, index) => `${index + 1}. ${contentText(content)}\n`);
      context.addMessage({
        content: `\nRelevant memory content (best match first):\n${lines.join("")}`,
        type: "SystemMessage",
      });
    }
    return found;
  }

  /** The contents that share words with the query, best match first, with its score (BM25) added to its metadata. */
  async query(
    query: string | MemoryContent,
    _ctx: TurnContext,
    options: FullTextQueryOptions = {},
  ): Promise<MemoryContent[]> {
    const { k, scoreThreshold, filter } = { ...this.#options, ...options };
    if (this.#initial.length > 0) this.#begin();
    const found = this.#contents.search(
      typeof query === "string" ? query : searchText(query.content),
      {
        limit: requirePositive("k", k),
        ...(scoreThreshold !== null && { minScore: scoreThreshold }),
        ...(filter !== null && { accept: ({ metadata }) => matchesFilter(metadata, filter) }),
      },
    );
    return found.map(({ item, score }) => ({ ...item, metadata: { ...item.metadata, score } }));
  }

  /** @throws ValueError for a picture */
  async add(content: MemoryContent, _ctx: TurnContext): Promise<void> {
    requireText(content, "content");
    this.#begin();
    this.#contents.append(content);
  }

  clear(_ctx: TurnContext): Promise<void> {
    this.#clear();
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  saveState(): JsonObject {
    const contents = this.#isStored ? this.#contents.slice() : this.#initial;
    return { memory_contents: asJson(contents) };
  }

  loadState(state: JsonObject): void {
    const contents = loadContents(state, this.name);
    this.#clear();
    this.#contents.append(...contents);
  }

  stateParts(): StateParts {
    const logs = { contents: this.#contents };
    const head = {
      save: () => ({ begun: this.#isStored }),
      load: (value: Json) => {
        this.#isStored = (value as { begun: boolean }).begun;
      },
    };
    return { head, logs };
  }

  toConfig(): JsonObject {
    const { k, scoreThreshold, filter } = this.#options;
    return withoutNulls({
      name: this.name,
      k,
      score_threshold: scoreThreshold,
      filter,
      ...this.#analysis,
      memory_contents: this.#initial.map((content) => withoutNulls(content)),
    });
  }

  #begin(): void {
    if (this.#isStored) return;
    this.#isStored = true;
    this.#contents.append(...this.#initial);
  }

  #clear(): void {
    this.#isStored = true;
    this.#contents.clear();
  }
}

function requireText({ content }: MemoryContent, path: string): void {
  if (!isPicture(content)) return;
  const issue = { path, message: "is a picture; a full-text memory holds texts and JSON objects" };
  throw new ValueError(`${path} ${issue.message}`, { issues: [issue] });
}
