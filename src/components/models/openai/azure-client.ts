import type { ComponentDefinition } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/options/option-names.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../../outgoing/dependencies.ts";
import { headerNotes } from "../../../outgoing/headers.ts";
import { knownModel } from "../catalogue/hosted-models.ts";
import { type KnownModel, unknownModelNotes } from "../catalogue/known-model.ts";
import { modelInfoFrom, resolveHeaders } from "../client/client-config.ts";
import { HttpModelClient } from "../client/http-model-client.ts";
import { keyNotes, placeholderNote, requireAddress, resolveKey } from "../client/model-address.ts";
import { AZURE, azureAddress, isOwnHost } from "./address.ts";
import {
  type AzureOpenAIChatCompletionClientOptions,
  type AzureOpenAIConfig,
  apiSettingsFrom,
  azureConfigSchema,
} from "./config.ts";
import { openAINotes } from "./notes.ts";
import { OpenAIApi } from "./openai-api.ts";
import type { Server } from "./attempts.ts";
import { openAISdks } from "./sdk.ts";

const definition = {
  provider: "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Models that Azure hosts (AutoGen `AzureOpenAIChatCompletionClient`), by key or by Microsoft Entra token. Without
 * `azure_deployment` the deployment is named for the model.
 *
 * The SDK's own Azure class is not used: it insists on serialising bodies itself.
 */
export class AzureOpenAIChatCompletionClient extends HttpModelClient {
  /** @internal */
  static readonly component = azureDefinition;
  /** @throws ValueError for invalid options */
  constructor(
    options: AzureOpenAIChatCompletionClientOptions,
    dependencies: OutgoingDependencies = {},
  ) {
    const config = parseOptions(azureConfigSchema, options, "AzureOpenAIChatCompletionClient");
    const { model } = config;
    const catalogued = knownModel(model);
    const modelInfo = modelInfoFrom(config, catalogued && hosted(catalogued, config.api));
    super({
      definition,
      config,
      model,
      provider: AZURE,
      modelInfo,
      tokenLimit: catalogued?.tokenLimit,
      timeout: config.timeout,
      api: new OpenAIApi(apiSettingsFrom(config, modelInfo, catalogued), () => {
        requireAddress("azure_endpoint", config.azure_endpoint);
        const address = azureAddress(config);
        const secrets = new Secrets(dependencies, address.url, config);
        const token = tokenOf(config, dependencies);
        const apiKey = resolveKey(token ?? config.api_key, address, secrets, dependencies);
        const deployment = config.azure_deployment ?? model;
        return {
          url: address.url,
          isMakers: true,
          maker: AZURE,
          servedAs: deployment,
          apiKey,
          takesCacheKey: isOwnHost(address.url) && !/^20(23|24)-/.test(config.api_version),
          secrets,
          paths: pathsOf(deployment, config.api_version),
          sdk: openAISdks.get(
            {
              baseURL: address.url,
              apiKey,
              defaultHeaders: {
                ...(token === undefined ? { "api-key": apiKey, authorization: null } : {}),
                ...resolveHeaders(config.default_headers, (value) => secrets.resolve(value)),
              },
            },
            dependencies,
          ),
        };
      }),
    });
  }
}

/** The first version of Azure's API that has responses. */
const WITH_RESPONSES = "2025-03-01";

/**
 * Responses use the API version in the config, if it has them, and otherwise the API without versions; servers may
 * have only one of the two.
 */
function pathsOf(deployment: string, version: string): Server["paths"] {
  const query = `?api-version=${encodeURIComponent(version)}`;
  const dated = `/responses${query}`;
  const undated = "/v1/responses";
  const isNew = /^\d/.test(version) && version >= WITH_RESPONSES;
  return {
    responses: isNew ? [dated, undated] : [undated, dated],
    chat_completions: [`/deployments/${encodeURIComponent(deployment)}/chat/completions${query}`],
  };
}

/** The Microsoft Entra token of the config or the environment. */
function tokenOf(
  config: AzureOpenAIConfig,
  dependencies: OutgoingDependencies,
): string | undefined {
  return config.azure_ad_token ?? readEnv(dependencies, "AZURE_OPENAI_AD_TOKEN");
}

function azureDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<AzureOpenAIConfig, AzureOpenAIChatCompletionClient> {
  return {
    ...definition,
    configSchema: azureConfigSchema,
    fromConfig(config, loader) {
      const { azure_ad_token_provider: provider } = config;
      const credential =
        tokenOf(config, dependencies) ??
        config.api_key ??
        readEnv(dependencies, azureAddress(config).keyName);
      // Loading fails with an error that names the replacement of the provider.
      if (provider != null && credential === undefined) {
        loader.load(provider, "model", "azure_ad_token_provider");
      }
      return new AzureOpenAIChatCompletionClient(
        optionsOf(azureConfigSchema, config),
        dependencies,
      );
    },
    notes(config) {
      const placeholder = placeholderNote("azure_endpoint", config.azure_endpoint);
      if (placeholder) {
        return [...unknownModelNotes(config, knownModel(config.model)), placeholder];
      }
      return [
        ...unknownModelNotes(config, knownModel(config.model)),
        ...openAINotes(config, knownModel(config.model), true),
        ...keyNotes(
          tokenOf(config, dependencies) ?? config.api_key,
          azureAddress(config),
          dependencies,
        ),
        ...headerNotes(
          config.default_headers,
          config.azure_endpoint,
          dependencies,
          "config.default_headers",
        ),
        ...(config.azure_ad_token_provider == null
          ? []
          : [
              {
                path: "config.azure_ad_token_provider",
                message: "has no effect: the client uses api_key or azure_ad_token",
              },
            ]),
      ];
    },
  };
}

/**
 * The abilities of Azure's model: it takes PDF only by the Responses API
 * (https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses).
 */
function hosted(catalogued: KnownModel, api: AzureOpenAIConfig["api"]): KnownModel {
  if (api === "responses") return catalogued;
  const { pdf: _, ...info } = catalogued.info;
  return { ...catalogued, info };
}
