import * as z from "zod";
import {
  type AnyComponentDefinition,
  type Component,
  componentDefinition,
  withoutNulls,
} from "../../component/component.ts";
import type { JsonObject } from "../../json.ts";
import { type CamelKeys, optionsOf, parseOptions } from "../../options/option-names.ts";
import type { StepCache } from "../../steps/step-attempt.ts";

/**
 * Stores results of a {@link ChatCompletionCache} (AutoGen `CacheStore`), by key, as texts.
 *
 * @param cache the host's cache, if it has one: a Durable Object stores it with the team
 */
export interface CacheStore extends Component {
  get(key: string, cache?: StepCache): string | undefined;
  set(key: string, value: string, cache?: StepCache): void;
}

/** Limits of a store. AutoGen ignores them. */
const room = {
  /** Above this number the oldest results are deleted. Default 1000. */
  max_entries: z.int().min(1).max(100_000).nullish(),
  /** Longer results are not stored. Default 100000; the maximum is what a row of a Durable Object can hold. */
  max_entry_bytes: z.int().min(1).max(1_000_000).nullish(),
};
export const memoryCacheSchema = z.object(room);
export type CacheStoreLimits = z.infer<typeof memoryCacheSchema>;

const encoder = new TextEncoder();

/** Stores results with the team in a Durable Object, elsewhere in memory for its own lifetime. */
export abstract class TeamCacheStore implements CacheStore {
  abstract readonly definition: Component["definition"];
  readonly #config: CacheStoreLimits;
  readonly #entries = new Map<string, string>();

  protected constructor(config: CacheStoreLimits) {
    this.#config = config;
  }

  get(key: string, cache?: StepCache): string | undefined {
    return cache === undefined ? this.#entries.get(key) : cache.get(key);
  }

  set(key: string, value: string, cache?: StepCache): void {
    const maxEntries = this.#config.max_entries ?? 1000;
    if (encoder.encode(value).length > (this.#config.max_entry_bytes ?? 100_000)) return;
    if (cache !== undefined) {
      cache.set(key, value, maxEntries);
      return;
    }
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) return;
      this.#entries.delete(oldest);
    }
  }

  toConfig(): JsonObject {
    return withoutNulls({ ...this.#config });
  }
}

export type InMemoryStoreOptions = CamelKeys<z.input<typeof memoryCacheSchema>>;

/** AutoGen's default store. */
export class InMemoryStore extends TeamCacheStore {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_core.InMemoryStore",
    componentType: "cache_store",
    role: "cache_store",
    version: 1,
    configSchema: memoryCacheSchema,
    fromConfig: (config) => new InMemoryStore(optionsOf(memoryCacheSchema, config)),
  });

  readonly definition = InMemoryStore.component;

  /** @throws ValueError for an invalid limit */
  constructor(options: InMemoryStoreOptions = {}) {
    super(parseOptions(memoryCacheSchema, options, "InMemoryStore"));
  }
}

export const diskCacheSchema = z.object({ directory: z.string(), ...room });

export type DiskCacheStoreOptions = CamelKeys<z.input<typeof diskCacheSchema>>;

/** AutoGen's store on disk: `directory` is kept for the dump; the results are stored with the team. */
export class DiskCacheStore extends TeamCacheStore {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.cache_store.diskcache.DiskCacheStore",
    componentType: "cache_store",
    role: "cache_store",
    version: 1,
    configSchema: diskCacheSchema,
    fromConfig: (config) => new DiskCacheStore(optionsOf(diskCacheSchema, config)),
  });

  readonly definition = DiskCacheStore.component;

  /** @throws ValueError for an invalid limit */
  constructor(options: DiskCacheStoreOptions) {
    super(parseOptions(diskCacheSchema, options, "DiskCacheStore"));
  }
}

export const redisCacheSchema = z.object({
  host: z.string().default("localhost"),
  port: z.int().default(6379),
  db: z.int().default(0),
  username: z.string().nullish(),
  password: z.string().nullish(),
  ssl: z.boolean().default(false),
  socket_timeout: z.number().nullish(),
  ...room,
});

export type RedisStoreOptions = CamelKeys<z.input<typeof redisCacheSchema>>;

/** AutoGen's store in Redis: the connection is kept for the dump; the results are stored with the team. */
export class RedisStore extends TeamCacheStore {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_ext.cache_store.redis.RedisStore",
    componentType: "cache_store",
    role: "cache_store",
    version: 1,
    configSchema: redisCacheSchema,
    fromConfig: (config) => new RedisStore(optionsOf(redisCacheSchema, config)),
  });

  readonly definition = RedisStore.component;

  /** @throws ValueError for an invalid option */
  constructor(options: RedisStoreOptions = {}) {
    super(parseOptions(redisCacheSchema, options, "RedisStore"));
  }
}
