import type { TroupeClient } from "#client/index.ts";
import type { JsonObject } from "#core/json.ts";

/** An agent that says these texts, and fails when they are used up. */
export function speaker(texts: readonly string[]): JsonObject {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "speaker",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: [...texts] },
      },
      model_client_stream: true,
    },
  };
}

/** An agent that asks a human. */
export const HUMAN: JsonObject = {
  provider: "autogen_agentchat.agents.UserProxyAgent",
  config: { name: "human" },
};

/** A team of an agent that answers and a human, who alternate until the human says DONE. */
export function conversation(texts: readonly string[]): JsonObject {
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: {
      participants: [speaker(texts), HUMAN],
      termination_condition: {
        provider: "autogen_agentchat.conditions.TextMentionTermination",
        config: { text: "DONE" },
      },
    },
  };
}

interface Tool {
  config: JsonObject;
}

/** An agent that calls the calculator of a shipped template once a human has approved. */
export async function calculatingClerk(client: TroupeClient): Promise<JsonObject> {
  const example = await client.teams.create({ template: "tools_assistant" });
  const { component } = await example.get();
  await example.delete();
  const [workbench] = component.config["workbench"] as unknown as { config: { tools: Tool[] } }[];
  const [calculator] = workbench?.config.tools ?? [];
  const call = { id: "1", name: "calculator", arguments: '{"expression":"6 * 7"}' };
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      tools: [{ ...calculator, config: { ...calculator?.config, approval: "human" } }],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [
            {
              finish_reason: "function_calls",
              content: [call],
              usage: { prompt_tokens: 0, completion_tokens: 0 },
              cached: false,
            },
          ],
          model_info: {
            vision: false,
            function_calling: true,
            json_output: false,
            structured_output: false,
            family: "unknown",
          },
        },
      },
    },
  };
}
