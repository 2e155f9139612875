import * as z from "zod";
import { withoutNulls } from "../../../core/component/component.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CamelKeys } from "../../../core/options/option-names.ts";
import { WORKERS_AI_NAMES } from "../catalogue/workers-ai-models.ts";
import {
  clientConfigSchema,
  modelNameSchema,
  responseFormatSchema,
} from "../client/client-config.ts";

/** The default token limit of an answer, for models whose own default of 256 truncates answers. */
const MAX_TOKENS = 2048;

/** Inputs of every request, by the names of Workers AI. */
const createArgsSchema = z.object({
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  reasoning_effort: z.string().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormatSchema.nullish(),
});

export const workersAIConfigSchema = createArgsSchema.extend(clientConfigSchema.shape).extend({
  model: modelNameSchema(WORKERS_AI_NAMES),
  /** Puts the source's name before the text, because the models have no field for names. */
  add_name_prefixes: z.boolean().nullish(),
});
/** The config of `WorkersAIChatCompletionClient`. AutoGen has no such client. */
export type WorkersAIConfig = z.output<typeof workersAIConfigSchema>;

/** The same in code, in camel case. */
export type WorkersAIChatCompletionClientOptions = CamelKeys<z.input<typeof workersAIConfigSchema>>;

/** @param isNative whether the model has the older interface of Workers AI */
export function createArgsFrom(
  config: z.infer<typeof workersAIConfigSchema>,
  isNative: boolean,
): JsonObject {
  const args = withoutNulls(createArgsSchema.parse(config));
  return isNative ? { max_tokens: MAX_TOKENS, ...args } : args;
}
