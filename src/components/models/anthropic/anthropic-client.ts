import type { ComponentDefinition } from "../../../core/component/component.ts";
import { optionsOf, parseOptions } from "../../../core/options/option-names.ts";
import { type OutgoingDependencies, Secrets } from "../../../outgoing/dependencies.ts";
import { headerNotes } from "../../../outgoing/headers.ts";
import { outgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import { knownClaudeModel } from "../catalogue/hosted-models.ts";
import { unknownModelNotes } from "../catalogue/known-model.ts";
import { modelInfoFrom, resolveHeaders } from "../client/client-config.ts";
import { httpEndpoint } from "../http/send.ts";
import { HttpModelClient, ModelAbilities } from "../client/http-model-client.ts";
import { keyNotes, placeholderNote, requireAddress, resolveKey } from "../client/model-address.ts";
import { anthropicAddress, messagesUrl } from "./address.ts";
import {
  type AnthropicChatCompletionClientOptions,
  type AnthropicConfig,
  anthropicConfigSchema,
  createArgsFrom,
} from "./config.ts";
import { claudeNotes } from "./notes.ts";
import { MessagesApi } from "./messages-api.ts";

const definition = {
  provider: "autogen_ext.models.anthropic.AnthropicChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/** The API version with AutoGen's `temperature`, `top_p` and `top_k`. */
const API_VERSION = "2023-06-01";

/**
 * Claude models by Anthropic's Messages API (AutoGen `AnthropicChatCompletionClient`). Makes one attempt per call.
 *
 * @example
 * const client = new AnthropicChatCompletionClient({ model: "claude-sonnet-4-5", apiKey: "env:ANTHROPIC_API_KEY" });
 * const result = await client.create([{ type: "UserMessage", source: "user", content: "Hello" }]);
 */
export class AnthropicChatCompletionClient extends HttpModelClient {
  /** @internal */
  static readonly component = anthropicDefinition;
  /** @throws ValueError for invalid options */
  constructor(
    options: AnthropicChatCompletionClientOptions,
    dependencies: OutgoingDependencies = {},
  ) {
    const config = parseOptions(anthropicConfigSchema, options, "AnthropicChatCompletionClient");
    const { model } = config;
    const catalogued = knownClaudeModel(model);
    const modelInfo = modelInfoFrom(config, catalogued);
    const jsonObject = config.response_format?.type === "json_object";
    if (jsonObject) new ModelAbilities(model, modelInfo).checkOutput(true);
    super({
      definition,
      config,
      model,
      provider: "anthropic",
      modelInfo,
      tokenLimit: catalogued?.tokenLimit,
      timeout: config.timeout,
      api: new MessagesApi(
        {
          model,
          modelInfo,
          createArgs: createArgsFrom(config),
          thoughtTags: config.thought_tags ?? "thought",
          jsonObject,
          caches: config.cache !== "off",
        },
        () => {
          requireAddress("base_url", config.base_url);
          const address = anthropicAddress(config, dependencies);
          const secrets = new Secrets(dependencies, address.url, config);
          const apiKey = resolveKey(config.api_key, address, secrets, dependencies);
          const defaultHeaders = resolveHeaders(config.default_headers, (value) =>
            secrets.resolve(value),
          );
          return httpEndpoint({
            url: messagesUrl(address.url),
            headers: headersOf(apiKey, defaultHeaders),
            fetch: outgoingFetch(dependencies),
            secrets,
          });
        },
      ),
    });
  }
}

function anthropicDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<AnthropicConfig, AnthropicChatCompletionClient> {
  return {
    ...definition,
    configSchema: anthropicConfigSchema,
    fromConfig: (config) =>
      new AnthropicChatCompletionClient(optionsOf(anthropicConfigSchema, config), dependencies),
    notes(config) {
      const catalogued = knownClaudeModel(config.model);
      const placeholder = placeholderNote("base_url", config.base_url);
      if (placeholder) return [...unknownModelNotes(config, catalogued), placeholder];
      return [
        ...unknownModelNotes(config, catalogued),
        ...claudeNotes(config),
        ...keyNotes(config.api_key, anthropicAddress(config, dependencies), dependencies),
        ...headerNotes(
          config.default_headers,
          anthropicAddress(config, dependencies).url,
          dependencies,
          "config.default_headers",
        ),
      ];
    },
  };
}

/** The headers of every request, by names in lower case; those of the config replace the client's. */
function headersOf(apiKey: string, configured: Record<string, string>): Record<string, string> {
  const own = { accept: "application/json", "anthropic-version": API_VERSION, "x-api-key": apiKey };
  const named = Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...own, ...Object.fromEntries(named) };
}
