import type { ComponentDefinition } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/options/option-names.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../../outgoing/dependencies.ts";
import { headerNotes } from "../../../outgoing/headers.ts";
import { knownModel } from "../catalogue/hosted-models.ts";
import { unknownModelNotes } from "../catalogue/known-model.ts";
import { modelInfoFrom, resolveHeaders } from "../client/client-config.ts";
import { HttpModelClient } from "../client/http-model-client.ts";
import { keyNotes, placeholderNote, requireAddress, resolveKey } from "../client/model-address.ts";
import { encrypterOf, isOpenAIs, isOwnHost, openAIAddress } from "./address.ts";
import {
  apiSettingsFrom,
  type OpenAIChatCompletionClientOptions,
  type OpenAIConfig,
  openAIConfigSchema,
} from "./config.ts";
import { openAINotes } from "./notes.ts";
import { OpenAIApi } from "./openai-api.ts";
import { openAISdks } from "./sdk.ts";

const definition = {
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Models of OpenAI and of any other server with its APIs (AutoGen `OpenAIChatCompletionClient`): the Responses API, where
 * the model needs it, else chat completions.
 *
 * @example
 * const client = new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "env:OPENAI_API_KEY" });
 * const result = await client.create([{ type: "UserMessage", source: "user", content: "Hello" }]);
 */
export class OpenAIChatCompletionClient extends HttpModelClient {
  /** @internal */
  static readonly component = openAIDefinition;
  /** @throws ValueError for invalid options */
  constructor(options: OpenAIChatCompletionClientOptions, dependencies: OutgoingDependencies = {}) {
    const config = parseOptions(openAIConfigSchema, options, "OpenAIChatCompletionClient");
    const { model } = config;
    const catalogued = knownModel(model);
    const modelInfo = modelInfoFrom(config, catalogued);
    super({
      definition,
      config,
      model,
      provider: "openai",
      modelInfo,
      tokenLimit: catalogued?.tokenLimit,
      timeout: config.timeout,
      api: new OpenAIApi(apiSettingsFrom(config, modelInfo, catalogued), () => {
        requireAddress("base_url", config.base_url);
        const address = openAIAddress(config, dependencies);
        const secrets = new Secrets(dependencies, address.url, config);
        const apiKey = resolveKey(config.api_key, address, secrets, dependencies);
        const defaultHeaders = resolveHeaders(config.default_headers, (value) =>
          secrets.resolve(value),
        );
        const organization = config.organization ?? readEnv(dependencies, "OPENAI_ORG_ID") ?? null;
        return {
          url: address.url,
          isMakers: isOpenAIs(address.url, dependencies),
          maker: encrypterOf(address.url, dependencies),
          servedAs: model,
          apiKey,
          takesCacheKey: isOwnHost(address.url),
          secrets,
          paths: { responses: ["/responses"], chat_completions: ["/chat/completions"] },
          sdk: openAISdks.get(
            { baseURL: address.url, apiKey, organization, defaultHeaders },
            dependencies,
          ),
        };
      }),
    });
  }
}

function openAIDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OpenAIConfig, OpenAIChatCompletionClient> {
  return {
    ...definition,
    configSchema: openAIConfigSchema,
    fromConfig: (config) =>
      new OpenAIChatCompletionClient(optionsOf(openAIConfigSchema, config), dependencies),
    notes(config) {
      const catalogued = knownModel(config.model);
      const placeholder = placeholderNote("base_url", config.base_url);
      if (placeholder) return [...unknownModelNotes(config, catalogued), placeholder];
      const address = openAIAddress(config, dependencies);
      const { url } = address;
      return [
        ...unknownModelNotes(config, catalogued),
        ...openAINotes(config, catalogued, isOpenAIs(url, dependencies)),
        ...keyNotes(config.api_key, address, dependencies),
        ...headerNotes(config.default_headers, url, dependencies, "config.default_headers"),
      ];
    },
  };
}
