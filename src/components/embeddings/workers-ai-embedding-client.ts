import * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { EmbeddingClient, EmbeddingResult } from "../../core/memory/embedding-client.ts";
import { retryPolicyOf, retrySchema } from "../../core/steps/retry-config.ts";
import { type CamelKeys, optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import type { StepSubject } from "../../core/steps/step-attempt.ts";
import { JsonReader, readAnswer } from "../models/http/read-stream.ts";
import { type ModelEndpoint, send } from "../models/http/send.ts";
import { bindingOf, type ModelDependencies } from "../models/workers-ai/binding.ts";
import { workersAIEndpoint } from "../models/workers-ai/endpoint.ts";
import { EmbeddingBatches } from "./embedding-batches.ts";
import { type EmbeddingAnswer, usageOf } from "./read-embeddings.ts";

/** The service's limit of texts in one request. */
const LIMITS = { inputs: 100, tokens: 60_000 };

/** Seconds. */
const DEFAULT_TIMEOUT = 30;

/** Dimensions of the models that are known by name. */
const DIMENSIONS: { readonly [model: string]: number } = {
  "@cf/baai/bge-m3": 1024,
  "@cf/baai/bge-small-en-v1.5": 384,
  "@cf/baai/bge-base-en-v1.5": 768,
  "@cf/baai/bge-large-en-v1.5": 1024,
  "@cf/google/embeddinggemma-300m": 768,
  "@cf/qwen/qwen3-embedding-0.6b": 1024,
};

export const workersAIEmbeddingConfigSchema = z.object({
  model: z.string().min(1).default("@cf/baai/bge-m3"),
  /** Seconds. */
  timeout: z.number().positive().nullish(),
  retry: retrySchema.nullish(),
});
type WorkersAIEmbeddingConfig = z.output<typeof workersAIEmbeddingConfigSchema>;

/** The same in code, in camel case. */
export type WorkersAIEmbeddingClientOptions = CamelKeys<
  z.input<typeof workersAIEmbeddingConfigSchema>
>;

const definition = {
  provider: "troupe.embeddings.WorkersAIEmbeddingClient",
  componentType: "embedding",
  role: "embedding",
  version: 1,
} as const;

/**
 * Turns texts into vectors with a model that Cloudflare runs, by the Worker's binding `AI`: no key is needed.
 *
 * @example
 * const embedding = new WorkersAIEmbeddingClient({}, { ai: env.AI });
 */
export class WorkersAIEmbeddingClient implements EmbeddingClient {
  /** @internal */
  static readonly component = workersAIEmbeddingDefinition;
  readonly definition = definition;
  readonly space: string;
  readonly subject: StepSubject;
  readonly #config: WorkersAIEmbeddingConfig;
  readonly #batches: EmbeddingBatches;
  readonly #endpoint: ModelEndpoint;
  readonly #retry: RetryPolicy | undefined;

  /** @throws ValueError for invalid options, and without the binding */
  constructor(options: WorkersAIEmbeddingClientOptions = {}, dependencies: ModelDependencies = {}) {
    const config = parseOptions(
      workersAIEmbeddingConfigSchema,
      options,
      "WorkersAIEmbeddingClient",
    );
    const { model } = config;
    const dimensions = DIMENSIONS[model];
    this.#config = config;
    this.#batches = new EmbeddingBatches(model, LIMITS, dimensions);
    this.#endpoint = workersAIEndpoint(bindingOf(dependencies), model, (body) => body);
    this.#retry = retryPolicyOf(config);
    this.subject = { name: model, provider: "cloudflare.workers_ai" };
    this.space = `workers-ai/${model}/${dimensions ?? "own"}`;
  }

  async embed(
    texts: readonly string[],
    { signal, idempotencyKey, trace }: Parameters<EmbeddingClient["embed"]>[1] = {},
  ): Promise<EmbeddingResult> {
    const timeoutMs = Math.round((this.#config.timeout ?? DEFAULT_TIMEOUT) * 1000);
    const options = { timeoutMs, idempotencyKey, signal, trace };
    const { server } = this.#endpoint;
    return this.#batches.embed(texts, (text) =>
      send(
        this.#endpoint,
        { text: JSON.stringify({ text }) },
        options,
        async (response, aborted) => {
          return read(await readAnswer({ response, server }, new JsonReader(), aborted));
        },
      ),
    );
  }

  retryPolicy(): RetryPolicy | undefined {
    return this.#retry;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }

  async close(): Promise<void> {}
}

/** The service answers `{ shape, data }`, over its gateway as `result` of an envelope. */
function read(body: unknown): EmbeddingAnswer {
  const inner = isJsonObject(body) && isJsonObject(body["result"]) ? body["result"] : body;
  const { data, usage } = isJsonObject(inner) ? inner : {};
  return { vectors: data, usage: usageOf(usage) };
}

function workersAIEmbeddingDefinition(
  dependencies: ModelDependencies,
): ComponentDefinition<WorkersAIEmbeddingConfig, WorkersAIEmbeddingClient> {
  return {
    ...definition,
    configSchema: workersAIEmbeddingConfigSchema,
    fromConfig: (config) =>
      new WorkersAIEmbeddingClient(optionsOf(workersAIEmbeddingConfigSchema, config), dependencies),
  };
}
