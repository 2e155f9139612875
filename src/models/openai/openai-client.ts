import type { ComponentDefinition } from "../../core/component/component.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { modelInfoOf, tokenLimitOf } from "../model-info.ts";
import { ChatCompletionsClient } from "./chat-completions-client.ts";
import { type OpenAIConfig, openAIConfigSchema } from "./config.ts";
import { type OutgoingDependencies, readEnv, Secrets } from "../../outgoing/dependencies.ts";
import { createSdk } from "./sdk.ts";
import { createArgsFrom, modelInfoFrom, parseConfig, resolveHeaders } from "./settings.ts";

/** Where a model lives, and the setting with its key, by how its name begins. */
const HOSTS = [
  {
    prefix: "gemini-",
    url: "https://generativelanguage.googleapis.com/v1beta/openai/",
    key: "GEMINI_API_KEY",
  },
  { prefix: "claude-", url: "https://api.anthropic.com/v1/", key: "ANTHROPIC_API_KEY" },
  { prefix: "Llama-", url: "https://api.llama.com/compat/v1/", key: "LLAMA_API_KEY" },
];

const OPENAI_URL = "https://api.openai.com/v1";

const definition = {
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  componentType: "model",
  role: "model",
  version: 1,
} as const;

/**
 * Models of OpenAI and of any server that speaks its chat completions (AutoGen `OpenAIChatCompletionClient`). Makes one
 * attempt per call.
 *
 * @example
 * const client = new OpenAIChatCompletionClient({ model: "gpt-4o", api_key: "env:OPENAI_API_KEY" });
 * const result = await client.create([{ type: "UserMessage", source: "user", content: "Hello" }]);
 */
export class OpenAIChatCompletionClient extends ChatCompletionsClient {
  /** @throws ValueError for a bad config, or a model that is not known and has no `model_info` */
  constructor(given: OpenAIConfig, dependencies: OutgoingDependencies = {}) {
    const config = parseConfig(openAIConfigSchema, given);
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
        const host = HOSTS.find(({ prefix }) => config.model.startsWith(prefix));
        const baseURL =
          config.base_url ?? host?.url ?? readEnv(dependencies, "OPENAI_BASE_URL") ?? OPENAI_URL;
        const secrets = new Secrets(dependencies, baseURL);
        const keyName = host?.key ?? "OPENAI_API_KEY";
        const apiKey = config.api_key ?? readEnv(dependencies, keyName);
        if (apiKey === undefined)
          throw new ModelError(
            "auth",
            `No key for the model '${config.model}': give api_key or set ${keyName}`,
          );
        const sdk = createSdk(
          {
            baseURL,
            apiKey: secrets.resolve(apiKey),
            organization: config.organization ?? readEnv(dependencies, "OPENAI_ORG_ID") ?? null,
            defaultHeaders: resolveHeaders(config.default_headers, (value) =>
              secrets.resolve(value),
            ),
          },
          dependencies,
        );
        return { sdk, path: "/chat/completions", secrets };
      },
    });
  }
}

export function openAIDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OpenAIConfig, OpenAIChatCompletionClient> {
  return {
    ...definition,
    configSchema: openAIConfigSchema,
    fromConfig: (config) => new OpenAIChatCompletionClient(config, dependencies),
  };
}
