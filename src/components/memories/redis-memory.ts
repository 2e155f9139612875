import * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import type { JsonObject } from "../../core/json.ts";
import { RecallMemory } from "../../core/memories/recall-memory.ts";
import { type CamelKeys, optionsOf, parseOptions } from "../../core/options/option-names.ts";

/** AutoGen's `RedisMemoryConfig`. */
export const redisConfigSchema = z.object({
  redis_url: z.string().default("redis://localhost:6379"),
  index_name: z.string().min(1).max(200).default("chat_history"),
  prefix: z.string().default("memory"),
  sequential: z.boolean().default(false),
  distance_metric: z.enum(["cosine", "ip", "l2"]).default("cosine"),
  algorithm: z.enum(["flat", "hnsw"]).default("flat"),
  top_k: z.int().min(1).max(100).default(10),
  datatype: z
    .enum(["uint8", "int8", "float16", "float32", "float64", "bfloat16"])
    .default("float32"),
  distance_threshold: z.number().default(0.7),
  model_name: z.string().default("sentence-transformers/all-mpnet-base-v2"),
});
type RedisConfig = z.output<typeof redisConfigSchema>;

/** The same in code, in camel case. */
export type RedisMemoryOptions = CamelKeys<z.input<typeof redisConfigSchema>>;

const definition = {
  provider: "autogen_ext.memory.redis_memory.RedisMemory",
  componentType: "memory",
  role: "memory",
  version: 1,
} as const;

/**
 * AutoGen's `RedisMemory` with its contents in the memories of the team, not in Redis. Its embedding model runs in Python,
 * so it recalls by words, or with `sequential` the latest contents.
 */
export class RedisMemory extends RecallMemory {
  /** @internal */
  static readonly component = redisMemoryDefinition;
  readonly definition = definition;
  readonly #config: RedisConfig;

  /** @throws ValueError for invalid options */
  constructor(options: RedisMemoryOptions = {}) {
    const config = parseOptions(redisConfigSchema, options, "RedisMemory");
    const { top_k: k, sequential, distance_threshold, index_name } = config;
    super({
      name: "redis_memory",
      scope: "team",
      collection: index_name,
      embedding: null,
      // A distance of at most this is a similarity of at least the rest.
      options: { k, scoreThreshold: sequential ? null : 1 - distance_threshold, filter: null },
      order: sequential ? "latest" : "best",
      withIds: false,
    });
    this.#config = config;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }
}

function redisMemoryDefinition(): ComponentDefinition<RedisConfig, RedisMemory> {
  return {
    ...definition,
    configSchema: redisConfigSchema,
    fromConfig: (config) => new RedisMemory(optionsOf(redisConfigSchema, config)),
    notes: ({ index_name, sequential }) => [
      {
        path: "config.redis_url",
        message: `has no effect: the contents are not in Redis but in the team's memories, in the collection "${index_name}"`,
      },
      ...(sequential
        ? []
        : [
            {
              path: "config.model_name",
              message:
                "runs in Python: the memory recalls by words only, and distance_threshold does not apply. Use a VectorMemory with an embedding client to compare meanings",
            },
          ]),
    ],
  };
}
