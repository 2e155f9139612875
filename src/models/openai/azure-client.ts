import type { ComponentDefinition, ComponentModel } from "../../core/component/component.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { modelInfoOf, tokenLimitOf } from "../model-info.ts";
import { ChatCompletionsClient } from "./chat-completions-client.ts";
import { type AzureOpenAIConfig, azureConfigSchema } from "./config.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../outgoing/dependencies.ts";
import { createSdk } from "./sdk.ts";
import { createArgsFrom, modelInfoFrom, parseConfig, resolveHeaders } from "./settings.ts";
import { trimEnd } from "../../core/text/trim-end.ts";

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
export class AzureOpenAIChatCompletionClient extends ChatCompletionsClient {
  /** @throws ValueError for a bad config, or a model that is not known and has no `model_info` */
  constructor(given: AzureOpenAIConfig, dependencies: OutgoingDependencies = {}) {
    const config = parseConfig(azureConfigSchema, given);
    const modelInfo = modelInfoFrom(config, modelInfoOf);
    super({
      definition,
      config,
      model: config.model,
      modelInfo,
      tokenLimit: tokenLimitOf(config.model),
      createArgs: createArgsFrom(config, modelInfo),
      includeNames: config.include_name_in_message ?? true,
      prefixNames: config.add_name_prefixes ?? false,
      timeout: config.timeout,
      connect: () => {
        const baseURL = `${trimEnd(config.azure_endpoint, "/")}/openai`;
        const secrets = new Secrets(dependencies, baseURL);
        const { token, apiKey } = credentialsOf(config, dependencies);
        const credential = token ?? apiKey;
        if (credential === undefined)
          throw new ModelError(
            "auth",
            `No key for the model '${config.model}': give api_key or azure_ad_token, or set AZURE_OPENAI_API_KEY`,
          );
        const secret = secrets.resolve(credential);
        const sdk = createSdk(
          {
            baseURL,
            apiKey: secret,
            defaultQuery: { "api-version": config.api_version },
            defaultHeaders: {
              ...(token === undefined ? { "api-key": secret, authorization: null } : {}),
              ...resolveHeaders(config.default_headers, (value) => secrets.resolve(value)),
            },
          },
          dependencies,
        );
        const deployment = encodeURIComponent(config.azure_deployment ?? config.model);
        return { sdk, path: `/deployments/${deployment}/chat/completions`, secrets };
      },
    });
  }
}

function credentialsOf(
  config: AzureOpenAIConfig,
  dependencies: OutgoingDependencies,
): { token: string | undefined; apiKey: string | undefined } {
  return {
    token: config.azure_ad_token ?? readEnv(dependencies, "AZURE_OPENAI_AD_TOKEN"),
    apiKey: config.api_key ?? readEnv(dependencies, "AZURE_OPENAI_API_KEY"),
  };
}

export function azureDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<AzureOpenAIConfig, AzureOpenAIChatCompletionClient> {
  return {
    ...definition,
    configSchema: azureConfigSchema,
    fromConfig(config, loader) {
      const { azure_ad_token_provider: provider } = config;
      const { token, apiKey } = credentialsOf(config, dependencies);
      // Loading fails with what to use instead of the provider.
      if (provider != null && token === undefined && apiKey === undefined) {
        loader.load(provider as ComponentModel, "model", "azure_ad_token_provider");
      }
      return new AzureOpenAIChatCompletionClient(config, dependencies);
    },
    notes: ({ azure_ad_token_provider: provider }) =>
      provider == null
        ? []
        : [
            {
              path: "config.azure_ad_token_provider",
              message: "has no effect: the client uses api_key or azure_ad_token",
            },
          ],
  };
}
