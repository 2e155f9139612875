import * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import type { JsonObject } from "../../core/json.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { RecallMemory } from "../../core/memories/recall-memory.ts";
import {
  asData,
  type CamelKeys,
  optionsOf,
  parseOptions,
} from "../../core/options/option-names.ts";

/** AutoGen's `Mem0MemoryConfig`. */
export const mem0ConfigSchema = z
  .object({
    user_id: z.string().nullish(),
    limit: z.int().min(1).max(100).default(10),
    is_cloud: z.boolean().default(true),
    api_key: z.string().nullish(),
    config: asData(jsonObjectSchema).nullish(),
  })
  .refine(({ is_cloud, config }) => is_cloud || config != null, {
    path: ["config"],
    message: "is required where is_cloud is false",
  });
type Mem0Config = z.output<typeof mem0ConfigSchema>;

/** The same in code, in camel case. */
export type Mem0MemoryOptions = CamelKeys<z.input<typeof mem0ConfigSchema>>;

const definition = {
  provider: "autogen_ext.memory.mem0.Mem0Memory",
  componentType: "memory",
  role: "memory",
  version: 1,
} as const;

/**
 * AutoGen's `Mem0Memory` with its contents in memories of Troupe, not in Mem0: with a `userId`, in those of the run's user;
 * without one, and in runs without a user, in those of the team. It recalls by words and stores texts as they are.
 */
export class Mem0Memory extends RecallMemory {
  /** @internal */
  static readonly component = mem0Definition;
  readonly definition = definition;
  readonly #config: Mem0Config;

  /** @throws ValueError for invalid options */
  constructor(options: Mem0MemoryOptions = {}) {
    const config = parseOptions(mem0ConfigSchema, options, "Mem0Memory");
    const { user_id, limit: k } = config;
    super({
      name: "mem0_memory",
      // A config must not read the memories of another user, so it cannot name the user.
      ...(user_id == null ? { scope: "team" } : { scope: "user", otherwise: "team" }),
      collection: null,
      embedding: null,
      options: { k, scoreThreshold: null, filter: null },
      order: "best",
      withIds: false,
    });
    this.#config = config;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }
}

function mem0Definition(): ComponentDefinition<Mem0Config, Mem0Memory> {
  return {
    ...definition,
    configSchema: mem0ConfigSchema,
    fromConfig: (config) => new Mem0Memory(optionsOf(mem0ConfigSchema, config)),
    notes: ({ user_id }) => [
      {
        path: "config.is_cloud",
        message: `has no effect: the contents are not in Mem0 but in the memories of the ${user_id == null ? "team" : "run's user"}, and are recalled by words`,
      },
      ...(user_id == null
        ? []
        : [
            {
              path: "config.user_id",
              message:
                "is not read: the memories are those of the run's user, and in runs without a user those of the team",
            },
          ]),
    ],
  };
}
