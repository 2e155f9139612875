import * as z from "zod";
import { componentModelSchema } from "../../core/component/component.ts";
import { jsonObjectSchema } from "../../core/json.ts";
import { modelInfoSchema } from "../../core/models/model-info.ts";

const responseFormatSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string(),
      description: z.string().nullish(),
      schema: jsonObjectSchema.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/** Where a client sends its requests. What is no address would only fail at the first request, as a lost connection. */
const addressSchema = z
  .string()
  .refine(
    (text) => /^https?:\/\//i.test(text) && URL.canParse(text),
    "must be an http:// or https:// address",
  );

/** What goes into the body of every request, by OpenAI's names. */
export const createArgsSchema = z.object({
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
  stream_options: z.object({ include_usage: z.boolean() }).nullish(),
});

const commonSchema = createArgsSchema.extend({
  model: z.string().min(1),
  /** The key, or `env:NAME`. */
  api_key: z.string().nullish(),
  /** Only one answer can be used. */
  n: z.literal(1).nullish(),
  /** Seconds to wait for an answer or, while streaming, for its first and each further piece. */
  timeout: z.number().positive().nullish(),
  /** Accepted and not used: whoever runs the client counts attempts. */
  max_retries: z.number().int().nonnegative().nullish(),
  model_info: modelInfoSchema.nullish(),
  /** AutoGen's older form of `model_info`. */
  model_capabilities: modelInfoSchema.omit({ family: true }).nullish(),
  /** Says who speaks at the beginning of the text, for models without names. */
  add_name_prefixes: z.boolean().nullish(),
  /** False for servers that do not take the field `name`. */
  include_name_in_message: z.boolean().nullish(),
  /** Values may be `env:NAME` or `Bearer env:NAME`. */
  default_headers: z.record(z.string(), z.string()).nullish(),
});
export type CommonConfig = z.infer<typeof commonSchema>;

export const openAIConfigSchema = commonSchema.extend({
  base_url: addressSchema.nullish(),
  organization: z.string().nullish(),
});
/** AutoGen's config of `OpenAIChatCompletionClient`. */
export type OpenAIConfig = z.input<typeof openAIConfigSchema>;

export const azureConfigSchema = commonSchema.extend({
  azure_endpoint: addressSchema,
  azure_deployment: z.string().nullish(),
  api_version: z.string().min(1),
  /** The token, or `env:NAME`. */
  azure_ad_token: z.string().nullish(),
  /** Not used: a Worker has no Azure identity of its own. Kept, so that AutoGen gets it back. */
  azure_ad_token_provider: componentModelSchema.nullish(),
});
/** AutoGen's config of `AzureOpenAIChatCompletionClient`. */
export type AzureOpenAIConfig = z.input<typeof azureConfigSchema>;

export const ollamaConfigSchema = z.object({
  model: z.string().min(1),
  host: z.string().nullish(),
  response_format: responseFormatSchema.nullish(),
  follow_redirects: z.boolean().nullish(),
  timeout: z.number().positive().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  model_info: modelInfoSchema.nullish(),
  model_capabilities: modelInfoSchema.omit({ family: true }).nullish(),
  /** Ollama's own names; those that OpenAI has, too, are translated, the others sent along. */
  options: jsonObjectSchema.nullish(),
});
/** AutoGen's config of `OllamaChatCompletionClient`. */
export type OllamaConfig = z.input<typeof ollamaConfigSchema>;
