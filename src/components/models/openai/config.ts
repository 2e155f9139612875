import * as z from "zod";
import { componentModelSchema } from "../../../core/component/component-model.ts";
import { withoutNulls } from "../../../core/component/component.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CamelKeys } from "../../../core/options/option-names.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";
import { OPENAI_NAMES } from "../catalogue/hosted-models.ts";
import {
  modelAddressSchema,
  clientConfigSchema,
  modelNameSchema,
  responseFormatSchema,
} from "../client/client-config.ts";
import { ModelAbilities } from "../client/http-model-client.ts";
import type { KnownModel } from "../catalogue/known-model.ts";
import type { OpenAIApiSettings } from "./openai-api.ts";

/** Fields of the body of every request, by OpenAI's names. */
const createArgsSchema = z.object({
  frequency_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  max_tokens: z.number().int().nullish(),
  max_completion_tokens: z.number().int().nullish(),
  presence_penalty: z.number().nullish(),
  response_format: responseFormatSchema.nullish(),
  seed: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  user: z.string().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.string().nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  stream_options: z.object({ include_usage: z.boolean() }).nullish(),
});

const commonSchema = createArgsSchema.extend(clientConfigSchema.shape).extend({
  model: modelNameSchema(OPENAI_NAMES),
  /** The key, or `env:NAME`. */
  api_key: z.string().nullish(),
  /** The API to use. AutoGen ignores it. */
  api: z.enum(["auto", "responses", "chat_completions"]).nullish(),
  /** Only one choice can be used. */
  n: z.literal(1).nullish(),
  /** Attempts after the first one, as in AutoGen; `retry.attempts` takes precedence over it. */
  max_retries: z.number().int().nonnegative().nullish(),
  /** Puts the source's name before the text, for models that have no names. */
  add_name_prefixes: z.boolean().nullish(),
  /** False for servers that refuse the field `name`. */
  include_name_in_message: z.boolean().nullish(),
  /** Values may be `env:NAME` or `Bearer env:NAME`. */
  default_headers: z.record(z.string(), z.string()).nullish(),
});
type CommonConfig = z.infer<typeof commonSchema>;

export const openAIConfigSchema = commonSchema.extend({
  base_url: modelAddressSchema.nullish(),
  organization: z.string().nullish(),
});
/** AutoGen's config of `OpenAIChatCompletionClient`. */
export type OpenAIConfig = z.output<typeof openAIConfigSchema>;

/** The same in code, in camel case. */
export type OpenAIChatCompletionClientOptions = CamelKeys<z.input<typeof openAIConfigSchema>>;

export const azureConfigSchema = commonSchema.extend({
  azure_endpoint: modelAddressSchema,
  azure_deployment: z.string().nullish(),
  api_version: z.string().min(1),
  /** The token, or `env:NAME`. */
  azure_ad_token: z.string().nullish(),
  /** Unused: a Worker has no Azure identity of its own. Kept for a dump that AutoGen reads. */
  azure_ad_token_provider: componentModelSchema.nullish(),
});
/** AutoGen's config of `AzureOpenAIChatCompletionClient`. */
export type AzureOpenAIConfig = z.output<typeof azureConfigSchema>;

/** The same in code, in camel case. */
export type AzureOpenAIChatCompletionClientOptions = CamelKeys<z.input<typeof azureConfigSchema>>;

/** The part of a config that goes into the body of every request. @throws ValueError for a JSON mode the model lacks */
function createArgsFrom(config: CommonConfig, info: ModelInfo): JsonObject {
  if (config.response_format?.type === "json_object")
    new ModelAbilities(config.model, info).checkOutput(true);
  return withoutNulls(createArgsSchema.parse(config));
}

/** The settings of requests in a config. @throws ValueError for a JSON mode the model lacks */
export function apiSettingsFrom(
  config: OpenAIConfig | AzureOpenAIConfig,
  modelInfo: ModelInfo,
  catalogued: KnownModel | undefined,
): OpenAIApiSettings {
  return {
    model: config.model,
    modelInfo,
    known: catalogued,
    api: config.api ?? "auto",
    caches: config.cache !== "off",
    thoughtTags: config.thought_tags ?? "thought",
    createArgs: createArgsFrom(config, modelInfo),
    includeNames: config.include_name_in_message ?? true,
    prefixNames: config.add_name_prefixes ?? false,
  };
}
