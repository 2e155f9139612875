import { beginningOf } from "../cut.ts";
import * as z from "zod";
import {
  type AnyComponentDefinition,
  componentDefinition,
  withoutNulls,
} from "../component/component.ts";
import { requirePositive } from "../context/base-chat-completion-context.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { aNumber, aText, checkOptions, type OptionsSchema } from "../options/options.ts";
import { toolParameters } from "../tools/function/tool-parameters.ts";
import type { StreamTool, ToolCallContext } from "../tools/tool.ts";
import { citationOf, collectionSchema, passages, searchCollection } from "./collection-search.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";
import { metadataFilterSchema } from "../memory/memory-schemas.ts";
import { memoryBindingNotes } from "./memory-binding.ts";

const configSchema = z.object({
  collection: collectionSchema,
  k: z.int().min(1).max(100).default(5),
  filter: metadataFilterSchema.nullish(),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "must have 1 to 64 letters, digits, _ or -")
    .nullish(),
  description: z.string().min(1).nullish(),
});

export interface SearchCollectionOptions {
  /** A collection of documents of the tenant. */
  collection: string;
  /** The most parts of documents that a search returns. Default 5. */
  k?: number | undefined;
  /** Metadata that the documents must have. */
  filter?: MetadataFilter | null | undefined;
  /** Default `search_` and the collection's name. */
  name?: string | null | undefined;
  /** The subject of the documents, for the model. */
  description?: string | null | undefined;
}

const optionsSchema: OptionsSchema<SearchCollectionOptions> = z.object({
  collection: aText,
  k: aNumber.optional(),
  filter: metadataFilterSchema.nullish(),
  name: aText.nullish(),
  description: aText.nullish(),
});

const parametersSchema = z.object({
  query: z.string().min(1).describe("What to look for: a question, or words."),
});

/**
 * A tool with which a model searches a collection of documents. The agent's answer cites what was found:
 * `metadata.citations`.
 *
 * @example
 * const tool = new SearchCollection({ collection: "handbook", description: "Searches the employee handbook." });
 */
export class SearchCollection implements StreamTool {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "troupe.tools.SearchCollection",
    componentType: "tool",
    role: "tool",
    version: 1,
    configSchema,
    fromConfig: (config) => new SearchCollection(config),
    notes: (_config, loader) =>
      memoryBindingNotes(loader, "config.collection", "the tool finds nothing"),
  });

  readonly definition = SearchCollection.component;
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly #options: SearchCollectionOptions & { k: number };
  readonly #parse: (args: JsonObject) => z.output<typeof parametersSchema>;

  /** @throws ValueError for invalid options */
  constructor(options: SearchCollectionOptions) {
    const checked = checkOptions(optionsSchema, options, "SearchCollection");
    const { collection, k = 5 } = checked;
    this.#options = { ...checked, k: requirePositive("k", k) };
    this.name =
      checked.name ?? beginningOf(`search_${collection}`.replace(/[^A-Za-z0-9_-]/g, "_"), 64);
    this.description =
      checked.description ??
      `Searches the documents of the collection "${collection}" and returns the parts that fit best, with their sources.`;
    const { schema, parse } = toolParameters(this.name, parametersSchema, false);
    this.schema = { name: this.name, description: this.description, parameters: schema };
    this.#parse = parse;
  }

  // oxlint-disable-next-line require-yield -- has the signature of tools that stream messages
  async *runStream(
    args: JsonObject,
    { ctx, cite }: ToolCallContext,
  ): AsyncGenerator<Message, string, void> {
    const { query: q } = this.#parse(args);
    const { collection, k, filter = null } = this.#options;
    const { results, note } = await searchCollection({ collection, q, k, filter }, ctx);
    if (note !== undefined) ctx.note(`"${this.name}": ${note}`);
    if (results.length === 0) return `The collection "${collection}" has nothing about this.`;
    cite?.(results.map((chunk) => citationOf(collection, chunk)));
    return passages(results, ctx);
  }

  valueAsText(value: Json): string {
    return value as string;
  }

  toConfig(): JsonObject {
    const { collection, k, filter, name, description } = this.#options;
    return withoutNulls({ collection, k, filter, name, description });
  }
}
