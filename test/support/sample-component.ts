import type { JsonObject } from "#core/json.ts";

/** A team that needs no model: it repeats its lines. */
export const SAMPLE_COMPONENT = {
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  component_type: "team",
  version: 1,
  component_version: 1,
  config: {
    participants: [agent("writer"), agent("critic")],
    termination_condition: {
      provider: "autogen_agentchat.conditions.MaxMessageTermination",
      component_type: "termination",
      version: 1,
      component_version: 1,
      config: { max_messages: 4, include_agent_event: false },
    },
  },
};

const CALLS_FUNCTIONS = {
  vision: false,
  function_calling: true,
  json_output: false,
  family: "unknown",
  structured_output: false,
};

/** The same, with a board of tasks. */
export const BOARD_COMPONENT = {
  ...SAMPLE_COMPONENT,
  config: {
    ...SAMPLE_COMPONENT.config,
    participants: [
      agent("writer", [
        { provider: "troupe.memory.TaskBoard", component_type: "memory", config: {} },
      ]),
    ],
  },
};

/** A team that asks a human, so that its run waits with an open request. */
export const ASKING_COMPONENT = {
  ...SAMPLE_COMPONENT,
  config: {
    ...SAMPLE_COMPONENT.config,
    participants: [
      {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        component_type: "agent",
        config: { name: "human", description: "A human." },
      },
    ],
  },
};

export function agent(name: string, memory?: JsonObject[]): JsonObject {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    version: 2,
    component_version: 2,
    config: {
      name,
      description: "Repeats its lines.",
      ...(memory && { memory }),
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "replay_chat_completion_client",
        version: 1,
        component_version: 1,
        config: {
          chat_completions: ["one", "two", "three"],
          cycle: true,
          ...(memory && { model_info: CALLS_FUNCTIONS }),
        },
      },
    },
  };
}
