import type { ComponentModel, JsonObject } from "troupe";

const MODEL = {
  vision: false,
  function_calling: true,
  json_output: false,
  family: "unknown",
  structured_output: false,
};

/** A model that gives these answers in order: texts, or what AutoGen's client records. */
export function replaying(answers: readonly (string | JsonObject)[]): ComponentModel {
  return {
    provider: "ReplayChatCompletionClient",
    config: { chat_completions: [...answers], model_info: MODEL },
  };
}

/** An assistant whose model gives these answers in order. */
export function assistant(
  name: string,
  answers: readonly (string | JsonObject)[],
  config: JsonObject = {},
): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: `replays as ${name}`,
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: replaying(answers),
      ...config,
    },
  };
}
