import * as z from "zod";
import { withoutNulls } from "../../../core/component/component.ts";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CamelKeys } from "../../../core/options/option-names.ts";
import { CLAUDE_NAMES } from "../catalogue/hosted-models.ts";
import {
  modelAddressSchema,
  clientConfigSchema,
  modelNameSchema,
} from "../client/client-config.ts";

/** The default token limit of an answer, as in AutoGen; the API has no default. */
const DEFAULT_MAX_TOKENS = 4096;

/** The form of thinking: a summary, or its signature alone. AutoGen does not have this option. */
const displaySchema = z.enum(["summarized", "omitted"]).nullish();

const thinkingSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("enabled"),
    budget_tokens: z.int().min(1024),
    display: displaySchema,
  }),
  /** The model decides how much it thinks. AutoGen does not have this option. */
  z.object({ type: z.literal("adaptive"), display: displaySchema }),
  /** The model thinks only after results of tools. AutoGen does not have this option. */
  z.object({ type: z.literal("between_tools") }),
  z.object({ type: z.literal("disabled"), budget_tokens: z.null().optional() }),
]);

/** Fields of the body of every request, by Anthropic's names. */
const createArgsSchema = z.object({
  /** Default 4096, and the budget of `thinking` on top. */
  max_tokens: z.int().positive().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_k: z.int().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  thinking: thinkingSchema.nullish(),
  /** The effort of an answer. AutoGen does not have this option. */
  output_config: z
    .object({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish() })
    .nullish(),
  /** Caches the beginning of each request, up to its end, for the next ones. AutoGen does not have this option. */
  cache_control: z
    .object({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).nullish() })
    .nullish(),
});

export const anthropicConfigSchema = createArgsSchema.extend(clientConfigSchema.shape).extend({
  model: modelNameSchema(CLAUDE_NAMES),
  /** The key, or `env:NAME`. */
  api_key: z.string().nullish(),
  base_url: modelAddressSchema.nullish(),
  /** `json_object`: every answer is a JSON object, unless the call says otherwise. */
  response_format: z.object({ type: z.enum(["text", "json_object"]) }).nullish(),
  /** Values may be `env:NAME` or `Bearer env:NAME`. */
  default_headers: z.record(z.string(), z.string()).nullish(),
  /** Attempts after the first one, as in AutoGen; `retry.attempts` takes precedence over it. */
  max_retries: z.int().nonnegative().nullish(),
  /** Accepted for compatibility with AutoGen and unused, as there: an agent passes its tools with each call. */
  tools: z.array(jsonObjectSchema).nullish(),
  tool_choice: z.union([z.enum(["auto", "any", "none"]), jsonObjectSchema]).nullish(),
});
/** AutoGen's config of `AnthropicChatCompletionClient`. */
export type AnthropicConfig = z.output<typeof anthropicConfigSchema>;

/** The same in code, in camel case. */
export type AnthropicChatCompletionClientOptions = CamelKeys<z.input<typeof anthropicConfigSchema>>;

/** The part of a config that goes into the body of every request. */
export function createArgsFrom(config: z.infer<typeof anthropicConfigSchema>): JsonObject {
  const args = createArgsSchema.parse(config);
  const { thinking } = args;
  const budget = thinking?.type === "enabled" ? thinking.budget_tokens : 0;
  return withoutNulls({
    ...args,
    max_tokens: args.max_tokens ?? DEFAULT_MAX_TOKENS + budget,
    thinking: thinking && withoutNulls(thinking),
    output_config: args.output_config && withoutNulls(args.output_config),
    cache_control: args.cache_control && withoutNulls(args.cache_control),
  });
}
