import type { ComponentModel } from "../../../src/core/component/component.ts";
import type { JsonObject } from "../../../src/core/json.ts";

/** Where the worker finds the fake services. */
export interface Services {
  /** Base URL of the model's API. */
  model: string;
}

export function component(provider: string, config: JsonObject): ComponentModel {
  return { provider, config };
}

export function modelClient({ model }: Services, config: JsonObject = {}): ComponentModel {
  return component("autogen_ext.models.openai.OpenAIChatCompletionClient", {
    model: "fake",
    base_url: model,
    api_key: "sk-chaos",
    model_info: {
      vision: false,
      function_calling: true,
      json_output: true,
      structured_output: true,
      family: "unknown",
    },
    ...config,
  });
}

/** The fake model tells agents apart by their system message: `You are <name>.` */
export function assistant(
  services: Services,
  name: string,
  config: JsonObject = {},
): ComponentModel {
  return component("autogen_agentchat.agents.AssistantAgent", {
    name,
    description: `The agent ${name}.`,
    system_message: `You are ${name}.`,
    model_client: modelClient(services),
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    ...config,
  });
}

/** A tool that the chaos worker registers. */
export function functionTool(name: string): ComponentModel {
  return component("autogen_core.tools.FunctionTool", {
    name,
    source_code: "",
    global_imports: [],
  });
}

export function roundRobin(
  participants: readonly ComponentModel[],
  maxTurns: number,
  config: JsonObject = {},
): ComponentModel {
  return component("autogen_agentchat.teams.RoundRobinGroupChat", {
    participants: participants as unknown as JsonObject[],
    max_turns: maxTurns,
    ...config,
  });
}
