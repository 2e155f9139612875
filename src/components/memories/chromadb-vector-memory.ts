import * as z from "zod";
import {
  type ComponentDefinition,
  type Note,
  withoutNulls,
} from "../../core/component/component.ts";
import type { JsonObject } from "../../core/json.ts";
import { RecallMemory } from "../../core/memories/recall-memory.ts";
import { type CamelKeys, optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { OpenAIEmbeddingClient } from "../embeddings/openai-embedding-client.ts";
import { keyNotes } from "../models/client/model-address.ts";
import { openAIAddress } from "../models/openai/address.ts";

/** The model of OpenAI's embedding function, where the config names none. */
const DEFAULT_MODEL = "text-embedding-ada-002";

/** AutoGen's configs of embedding functions. */
const embeddingFunctionSchema = z.object({
  function_type: z.enum(["default", "sentence_transformer", "openai", "custom"]).default("default"),
  model_name: z.string().min(1).nullish(),
  /** The key, or `env:NAME`. Empty: the setting OPENAI_API_KEY. */
  api_key: z.string().nullish(),
  function: z.unknown().optional(),
  params: z.record(z.string(), z.unknown()).nullish(),
});

/** AutoGen's `PersistentChromaDBVectorMemoryConfig` and `HttpChromaDBVectorMemoryConfig`. */
export const chromaDBConfigSchema = z.object({
  client_type: z.enum(["persistent", "http"]).default("persistent"),
  collection_name: z.string().min(1).max(200).default("memory_store"),
  distance_metric: z.string().default("cosine"),
  k: z.int().min(1).max(100).default(3),
  score_threshold: z.number().nullish(),
  allow_reset: z.boolean().default(false),
  tenant: z.string().default("default_tenant"),
  database: z.string().default("default_database"),
  embedding_function_config: embeddingFunctionSchema.default({ function_type: "default" }),
  persistence_path: z.string().nullish(),
  host: z.string().nullish(),
  port: z.int().nullish(),
  ssl: z.boolean().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
});
type ChromaConfig = z.output<typeof chromaDBConfigSchema>;

/** The same in code, in camel case. */
export type ChromaDBVectorMemoryOptions = CamelKeys<z.input<typeof chromaDBConfigSchema>>;

const definition = {
  provider: "autogen_ext.memory.chromadb.ChromaDBVectorMemory",
  componentType: "memory",
  role: "memory",
  version: 1,
} as const;

/**
 * AutoGen's `ChromaDBVectorMemory` with its contents in the memories of the team, not in ChromaDB. OpenAI's embedding
 * function compares meanings; the others run in Python, and the memory recalls by words.
 */
export class ChromaDBVectorMemory extends RecallMemory {
  /** @internal */
  static readonly component = chromaDBDefinition;
  readonly definition = definition;
  readonly #config: ChromaConfig;

  /** @throws ValueError for invalid options */
  constructor(options: ChromaDBVectorMemoryOptions = {}, dependencies: OutgoingDependencies = {}) {
    const config = parseOptions(chromaDBConfigSchema, options, "ChromaDBVectorMemory");
    const { k, score_threshold = null, collection_name, embedding_function_config } = config;
    super({
      name: "chromadb_vector_memory",
      scope: "team",
      collection: collection_name,
      embedding: embeddingOf(embedding_function_config, dependencies),
      options: { k, scoreThreshold: score_threshold, filter: null },
      order: "best",
      withIds: false,
      scoreOf: (similarity) => scoreOf(config.distance_metric, similarity),
    });
    this.#config = config;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }
}

function embeddingOf(
  config: ChromaConfig["embedding_function_config"],
  dependencies: OutgoingDependencies,
): OpenAIEmbeddingClient | null {
  if (config.function_type !== "openai") return null;
  const { api_key, model_name } = config;
  const options = { model: model_name ?? DEFAULT_MODEL, apiKey: api_key || null };
  return new OpenAIEmbeddingClient(options, dependencies);
}

/** AutoGen's score for the distance that Chroma would report of two vectors of length 1. */
function scoreOf(metric: string, similarity: number): number {
  const distance = 1 - similarity;
  if (metric === "cosine") return 1 - distance / 2;
  return 1 / (1 + (metric === "l2" ? 2 * distance : distance));
}

function chromaDBDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<ChromaConfig, ChromaDBVectorMemory> {
  return {
    ...definition,
    configSchema: chromaDBConfigSchema,
    fromConfig: (config) =>
      new ChromaDBVectorMemory(optionsOf(chromaDBConfigSchema, config), dependencies),
    notes({ collection_name, embedding_function_config: config }): Note[] {
      const path = "config.embedding_function_config";
      const place: Note = {
        path: "config.client_type",
        message: `has no effect: the contents are not in ChromaDB but in the team's memories, in the collection "${collection_name}"`,
      };
      if (config.function_type !== "openai") {
        const message = `"${config.function_type}" runs in Python: the memory recalls by words only, and thresholds do not apply. Use "openai", or a VectorMemory with an embedding client`;
        return [place, { path, message }];
      }
      const address = openAIAddress({ model: config.model_name ?? DEFAULT_MODEL }, dependencies);
      const keys = keyNotes(config.api_key || null, address, dependencies);
      return [place, ...keys.map(({ message }) => ({ path: `${path}.api_key`, message }))];
    },
  };
}
