import type * as z from "zod";
import { type ComponentDefinition, withoutNulls } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/options/option-names.ts";
import type { JsonObject } from "../../../core/json.ts";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { outgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import { headerNotes } from "../../../outgoing/headers.ts";
import { knownOllamaModel } from "../catalogue/ollama-models.ts";
import { unknownModelNotes } from "../catalogue/known-model.ts";
import { modelInfoFrom, resolveHeaders } from "../client/client-config.ts";
import { httpEndpoint } from "../http/send.ts";
import { HttpModelClient, ModelAbilities } from "../client/http-model-client.ts";
import { OllamaChatApi } from "./chat-api.ts";
import { formatOf } from "./chat-request.ts";
import {
  MODEL_OPTIONS,
  type OllamaChatCompletionClientOptions,
  type OllamaConfig,
  ollamaConfigSchema,
} from "./config.ts";
import { baseUrlOf, hostOf } from "./host.ts";

const definition = {
  provider: "autogen_ext.models.ollama.OllamaChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Models that Ollama serves (AutoGen `OllamaChatCompletionClient`), with the model options of Ollama. Makes one attempt
 * per call.
 *
 * @example
 * const client = new OllamaChatCompletionClient({ model: "qwen3", options: { num_ctx: 16384 } });
 */
export class OllamaChatCompletionClient extends HttpModelClient {
  /** @internal */
  static readonly component = ollamaDefinition;
  /** @throws ValueError for invalid options */
  constructor(given: OllamaChatCompletionClientOptions, dependencies: OutgoingDependencies = {}) {
    const parsed = parseOptions(ollamaConfigSchema, given, "OllamaChatCompletionClient");
    const config = { ...parsed, ...collectOptions(parsed) };
    if (config.host != null) baseUrlOf(config.host);
    const catalogued = knownOllamaModel(config.model);
    const modelInfo = modelInfoFrom(config, catalogued);
    if (config.response_format?.type === "json_object")
      new ModelAbilities(config.model, modelInfo).checkOutput(true);
    const numCtx = config.options?.["num_ctx"];
    const { model, keep_alive, think, options } = config;
    super({
      definition,
      config,
      model,
      provider: "ollama",
      modelInfo,
      // The window of the loaded model is as large as the option says, whatever the model's own maximum.
      tokenLimit: typeof numCtx === "number" ? numCtx : catalogued?.tokenLimit,
      timeout: config.timeout,
      api: new OllamaChatApi(
        {
          model,
          modelInfo,
          thoughtTags: config.thought_tags ?? "thought",
          createArgs: withoutNulls({
            keep_alive,
            think,
            format: formatOf(config.response_format ?? null),
            options,
          }),
        },
        () => {
          const url = `${baseUrlOf(hostOf(config, dependencies))}/api/chat`;
          const secrets = new Secrets(dependencies, url, config);
          const headers = resolveHeaders(config.headers, (value) => secrets.resolve(value));
          const fetch = outgoingFetch(dependencies);
          return httpEndpoint({ url, headers, secrets, fetch, hint: pullHint });
        },
      ),
    });
  }
}

function ollamaDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OllamaConfig, OllamaChatCompletionClient> {
  return {
    ...definition,
    configSchema: ollamaConfigSchema,
    fromConfig: (config) =>
      new OllamaChatCompletionClient(optionsOf(ollamaConfigSchema, config), dependencies),
    notes: (config) => [
      ...unknownModelNotes(config, knownOllamaModel(config.model)),
      ...headerNotes(config.headers, baseUrlOf(hostOf(config, dependencies)), dependencies),
    ],
  };
}

/**
 * The model options of a config in `options`, with their other places empty: AutoGen reads only `options` when it
 * loads component JSON.
 */
function collectOptions(config: z.infer<typeof ollamaConfigSchema>): { options?: JsonObject } {
  const entries = Object.entries(config).filter(([name]) => MODEL_OPTIONS.includes(name));
  const beside = withoutNulls(Object.fromEntries(entries));
  const cleared = Object.fromEntries(entries.map(([name]) => [name, undefined]));
  if (config.options == null && Object.keys(beside).length === 0) return cleared;
  return { ...cleared, options: { ...config.options, ...beside } };
}

/** Advice for a model that the server does not have. */
function pullHint(said: string, status: number): string {
  return status === 404 && /model .*not found/.test(said)
    ? `. Get it with "ollama pull" on the server, or choose one that "ollama list" shows.`
    : "";
}
