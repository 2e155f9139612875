import * as z from "zod";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import type { CamelKeys } from "../../../core/options/option-names.ts";
import { OLLAMA_NAMES } from "../catalogue/ollama-models.ts";
import {
  clientConfigSchema,
  modelNameSchema,
  responseFormatSchema,
} from "../client/client-config.ts";

/** Options that AutoGen's client also accepts beside `options`; there they win. */
const modelOptionsSchema = z.object({
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.number().nullish(),
  repeat_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  mirostat: z.number().nullish(),
  mirostat_eta: z.number().nullish(),
  mirostat_tau: z.number().nullish(),
  seed: z.number().int().nullish(),
  num_ctx: z.number().int().positive().nullish(),
  num_predict: z.number().int().nullish(),
  num_gpu: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tfs_z: z.number().nullish(),
  typical_p: z.number().nullish(),
});

/** The names of {@link modelOptionsSchema}. */
export const MODEL_OPTIONS: readonly string[] = Object.keys(modelOptionsSchema.shape);

export const ollamaConfigSchema = clientConfigSchema.extend(modelOptionsSchema.shape).extend({
  model: modelNameSchema(OLLAMA_NAMES),
  /** `http://gpu:11434`, or without scheme or port. Default: OLLAMA_HOST, else this machine. */
  host: z.string().nullish(),
  response_format: responseFormatSchema.nullish(),
  /** Accepted for compatibility with AutoGen, and unused: redirects are never followed. */
  follow_redirects: z.boolean().nullish(),
  /** Values may be `env:NAME` or `Bearer env:NAME`. */
  headers: z.record(z.string(), z.string()).nullish(),
  /** Ollama's model options by their own names, such as `num_ctx` and `top_k`. */
  options: jsonObjectSchema.nullish(),
  /**
   * The time for which the model stays loaded: seconds or a duration such as `10m`; negative for ever. AutoGen ignores it.
   */
  keep_alive: z.union([z.string(), z.number()]).nullish(),
  /** The thinking of a reasoning model: true, false or a level such as `low`. AutoGen ignores it. */
  think: z.union([z.boolean(), z.string()]).nullish(),
});
/** AutoGen's config of `OllamaChatCompletionClient`. */
export type OllamaConfig = z.output<typeof ollamaConfigSchema>;

/** The same in code, in camel case. */
export type OllamaChatCompletionClientOptions = CamelKeys<z.input<typeof ollamaConfigSchema>>;
