import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAIError } from "openai/error";
import * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../core/component/component.ts";
import type { TroupeError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import {
  type EmbeddingClient,
  type EmbeddingResult,
  MOST_DIMENSIONS,
} from "../../core/memory/embedding-client.ts";
import { retryPolicyOf, retrySchema } from "../../core/steps/retry-config.ts";
import { type CamelKeys, optionsOf, parseOptions } from "../../core/options/option-names.ts";
import type { RetryPolicy } from "../../core/steps/retry.ts";
import type { StepSubject } from "../../core/steps/step-attempt.ts";
import { type OutgoingDependencies, Secrets } from "../../outgoing/dependencies.ts";
import { headerNotes } from "../../outgoing/headers.ts";
import { addressSchema, resolveHeaders } from "../models/client/client-config.ts";
import { type SdkConnection, sendBySdk } from "../models/http/sdk-connection.ts";
import { attemptOptions, JsonReader } from "../models/http/read-stream.ts";
import { fromSdkError } from "../models/http/sdk-errors.ts";
import { keyNotes, resolveKey } from "../models/client/model-address.ts";
import { isOwnHost, openAIAddress } from "../models/openai/address.ts";
import { openAISdks } from "../models/openai/sdk.ts";
import { EmbeddingBatches } from "./embedding-batches.ts";
import { readOpenAIEmbeddings } from "./read-embeddings.ts";

/** OpenAI's limits of one request. */
const LIMITS = { inputs: 2048, tokens: 300_000 };

/** Seconds. Embedding takes a second or two; a recall that waits longer holds up the answer. */
const DEFAULT_TIMEOUT = 30;

/** Dimensions of OpenAI's models. Another server may give its vectors under one of these names. */
const DIMENSIONS: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

export const openAIEmbeddingConfigSchema = z.object({
  model: z.string().min(1).default("text-embedding-3-small"),
  /** The key, or `env:NAME`. */
  api_key: z.string().nullish(),
  base_url: addressSchema.nullish(),
  /** Numbers of a vector, for models that can shorten theirs. */
  dimensions: z.int().min(1).max(MOST_DIMENSIONS).nullish(),
  /** Seconds. */
  timeout: z.number().positive().nullish(),
  /** Values may be `env:NAME` or `Bearer env:NAME`. */
  default_headers: z.record(z.string(), z.string()).nullish(),
  retry: retrySchema.nullish(),
  max_retries: z.int().nonnegative().nullish(),
});
type OpenAIEmbeddingConfig = z.output<typeof openAIEmbeddingConfigSchema>;

/** The same in code, in camel case. */
export type OpenAIEmbeddingClientOptions = CamelKeys<z.input<typeof openAIEmbeddingConfigSchema>>;

const definition = {
  provider: "troupe.embeddings.OpenAIEmbeddingClient",
  componentType: "embedding",
  role: "embedding",
  version: 1,
} as const;

/**
 * Turns texts into vectors with a model of OpenAI, or of any other server with its API (`POST /embeddings`).
 *
 * @example
 * const embedding = new OpenAIEmbeddingClient({ apiKey: "env:OPENAI_API_KEY" });
 */
export class OpenAIEmbeddingClient implements EmbeddingClient {
  /** @internal */
  static readonly component = openAIEmbeddingDefinition;
  readonly definition = definition;
  readonly space: string;
  readonly subject: StepSubject;
  readonly #config: OpenAIEmbeddingConfig;
  readonly #dependencies: OutgoingDependencies;
  readonly #batches: EmbeddingBatches;
  readonly #retry: RetryPolicy | undefined;
  #connection: SdkConnection | undefined;

  /** @throws ValueError for invalid options */
  constructor(options: OpenAIEmbeddingClientOptions = {}, dependencies: OutgoingDependencies = {}) {
    const config = parseOptions(openAIEmbeddingConfigSchema, options, "OpenAIEmbeddingClient");
    const { model } = config;
    const known = config.dimensions ?? DIMENSIONS[model];
    const { url } = openAIAddress(config, dependencies);
    this.#config = config;
    this.#dependencies = dependencies;
    const expected = isOwnHost(url) ? known : (config.dimensions ?? undefined);
    this.#batches = new EmbeddingBatches(model, LIMITS, expected);
    this.#retry = retryPolicyOf(config);
    this.subject = { name: model, provider: "openai" };
    this.space = `${new URL(url).host}/${model}/${known ?? "own"}`;
  }

  async embed(
    texts: readonly string[],
    { signal, idempotencyKey, trace }: Parameters<EmbeddingClient["embed"]>[1] = {},
  ): Promise<EmbeddingResult> {
    const { model, dimensions, timeout } = this.#config;
    const timeoutMs = Math.round((timeout ?? DEFAULT_TIMEOUT) * 1000);
    return this.#batches.embed(texts, async (input, number) => {
      const body = { model, input, ...(dimensions != null && { dimensions }) };
      const options = attemptOptions({ timeoutMs, idempotencyKey, signal, trace }, number);
      const forms = { text: JSON.stringify(body) };
      const answer = await sendBySdk(this.#connected(), forms, new JsonReader(), options);
      return readOpenAIEmbeddings(answer, input.length);
    });
  }

  retryPolicy(): RetryPolicy | undefined {
    return this.#retry;
  }

  toConfig(): JsonObject {
    return withoutNulls(this.#config);
  }

  async close(): Promise<void> {}

  #connected(): SdkConnection {
    if (this.#connection !== undefined) return this.#connection;
    const config = this.#config;
    const address = openAIAddress(config, this.#dependencies);
    const secrets = new Secrets(this.#dependencies, address.url, config);
    const apiKey = resolveKey(config.api_key, address, secrets, this.#dependencies);
    const defaultHeaders = resolveHeaders(config.default_headers, (value) =>
      secrets.resolve(value),
    );
    this.#connection = {
      sdk: openAISdks.get(
        { baseURL: address.url, apiKey, organization: null, defaultHeaders },
        this.#dependencies,
      ),
      path: "/embeddings",
      secrets,
      toError,
    };
    return this.#connection;
  }
}

function toError(error: unknown, redact: (text: string) => string): TroupeError {
  return fromSdkError(error, redact, {
    base: OpenAIError,
    connection: APIConnectionError,
    timeout: APIConnectionTimeoutError,
    answered: APIError,
  });
}

function openAIEmbeddingDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OpenAIEmbeddingConfig, OpenAIEmbeddingClient> {
  return {
    ...definition,
    configSchema: openAIEmbeddingConfigSchema,
    fromConfig: (config) =>
      new OpenAIEmbeddingClient(optionsOf(openAIEmbeddingConfigSchema, config), dependencies),
    notes(config) {
      const address = openAIAddress(config, dependencies);
      return [
        ...keyNotes(config.api_key, address, dependencies),
        ...headerNotes(config.default_headers, address.url, dependencies, "config.default_headers"),
      ];
    },
  };
}
