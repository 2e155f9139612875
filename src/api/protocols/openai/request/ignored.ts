import type { JsonObject } from "../../../../core/json.ts";

/** Parameters without an effect, by the values that ask for nothing. A team's models have theirs from its component. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly unknown[]>> = {
  frequency_penalty: [0],
  logit_bias: [],
  max_completion_tokens: [],
  max_output_tokens: [],
  max_tokens: [],
  parallel_tool_calls: [true],
  presence_penalty: [0],
  prompt_cache_key: [],
  prompt_cache_options: [],
  prompt_cache_retention: [],
  reasoning: [],
  reasoning_effort: [],
  seed: [],
  service_tier: ["auto", "default"],
  temperature: [],
  top_p: [],
  truncation: ["disabled"],
  verbosity: [],
};

/** Names of the parameters of a request that have no effect. @param own those of its protocol, with such values */
export function ignoredIn(
  body: JsonObject,
  own: Readonly<Record<string, readonly unknown[]>>,
): string[] {
  return Object.entries({ ...WITHOUT_EFFECT, ...own })
    .filter(([name, harmless]) => {
      const value = body[name];
      const isEmpty = Array.isArray(value) && value.length === 0;
      return value !== undefined && value !== null && !isEmpty && !harmless.includes(value);
    })
    .map(([name]) => name)
    .toSorted();
}
