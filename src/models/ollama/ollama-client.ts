import type { ComponentDefinition } from "../../core/component/component.ts";
import { withoutNulls } from "../../core/component/component.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { ChatCompletionsClient } from "../openai/chat-completions-client.ts";
import { type OllamaConfig, ollamaConfigSchema } from "../openai/config.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../outgoing/dependencies.ts";
import { createSdk } from "../openai/sdk.ts";
import { modelInfoFrom, parseConfig, resolveHeaders } from "../openai/settings.ts";
import { ollamaModelInfo, ollamaTokenLimit } from "./model-info.ts";
import { trimEnd } from "../../core/text/trim-end.ts";

const DEFAULT_HOST = "http://localhost:11434";

/** Ollama's options that chat completions have a field for. */
const FIELDS: { readonly [option: string]: string } = {
  temperature: "temperature",
  top_p: "top_p",
  seed: "seed",
  stop: "stop",
  num_predict: "max_tokens",
  presence_penalty: "presence_penalty",
  frequency_penalty: "frequency_penalty",
};

const definition = {
  provider: "autogen_ext.models.ollama.OllamaChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/** Models that Ollama serves (AutoGen `OllamaChatCompletionClient`), through its OpenAI-compatible endpoint. */
export class OllamaChatCompletionClient extends ChatCompletionsClient {
  /** @throws ValueError for a bad config, or a model that is not known and has no `model_info` */
  constructor(given: OllamaConfig, dependencies: OutgoingDependencies = {}) {
    const config = parseConfig(ollamaConfigSchema, given);
    super({
      definition,
      config,
      model: config.model,
      modelInfo: modelInfoFrom(config, ollamaModelInfo),
      tokenLimit: ollamaTokenLimit(config.model),
      createArgs: withoutNulls({
        ...fieldsOf(config.options ?? {}),
        response_format: config.response_format,
      }),
      includeNames: false,
      prefixNames: false,
      timeout: config.timeout,
      connect: () => {
        const baseURL = baseUrlOf(
          config.host ?? readEnv(dependencies, "OLLAMA_HOST") ?? DEFAULT_HOST,
        );
        const secrets = new Secrets(dependencies, baseURL);
        const defaultHeaders = resolveHeaders(config.headers, (value) => secrets.resolve(value));
        // Ollama wants no key, the SDK does.
        const sdk = createSdk({ baseURL, apiKey: "ollama", defaultHeaders }, dependencies);
        return { sdk, path: "/chat/completions", secrets };
      },
    });
  }
}

export function ollamaDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OllamaConfig, OllamaChatCompletionClient> {
  return {
    ...definition,
    configSchema: ollamaConfigSchema,
    fromConfig: (config) => new OllamaChatCompletionClient(config, dependencies),
  };
}

/** Ollama's settings may name a host without a scheme, as `localhost:11434`. */
function baseUrlOf(host: string): string {
  const url = /^https?:\/\//.test(host) ? host : `http://${host}`;
  return `${trimEnd(url, "/").replace(/\/v1$/, "")}/v1`;
}

/** Options as fields of a request; those without one go along under `options`, for servers that read them. */
function fieldsOf(options: JsonObject): JsonObject {
  const fields: JsonObject = {};
  const others: JsonObject = {};
  for (const [name, value] of Object.entries<Json>(options)) {
    const field = FIELDS[name];
    if (field === undefined) others[name] = value;
    else fields[field] = value;
  }
  return Object.keys(others).length > 0 ? { ...fields, options: others } : fields;
}
