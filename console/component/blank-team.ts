import { configOf } from "../picture/component-json.ts";
import { kindOf } from "../teams/kinds.ts";
import type { Catalogue, ComponentData } from "./catalogue.ts";
import { afterMessages, modelsIn } from "./edits.ts";
import { inChain } from "./graph.ts";

const ASSISTANT = "autogen_agentchat.agents.AssistantAgent";
const OPENAI = "autogen_ext.models.openai.OpenAIChatCompletionClient";

/** A team of one agent, to which others are added. @param templates may know a model that the server has a key for */
export function blankTeam(
  provider: string,
  catalogue: Catalogue,
  templates: readonly ComponentData[],
): ComponentData {
  const model = usualModel(catalogue, templates);
  const assistant: ComponentData = {
    ...catalogue.empty(ASSISTANT),
    config: { name: "assistant", model_client: model, model_client_stream: true },
  };
  if (provider === ASSISTANT) return assistant;
  const made = emptyTeam(provider, catalogue);
  const team: ComponentData = {
    ...made,
    config: {
      ...made.config,
      ...(catalogue.has(provider, "model_client") && { model_client: model }),
      participants: [assistant],
    },
  };
  return catalogue.has(provider, "graph") ? inChain(team, [], ["assistant"]) : team;
}

/** A team without agents. If its class has no end of its own, it ends after some messages. */
export function emptyTeam(provider: string, catalogue: Catalogue): ComponentData {
  const made = catalogue.empty(provider);
  const endless = !/GraphFlow|MagenticOne/.test(provider);
  return {
    ...made,
    config: {
      ...made.config,
      participants: [],
      ...(endless && { termination_condition: afterMessages(10) }),
    },
  };
}

/** The model of the server's templates; if they only replay, a hosted one. */
function usualModel(catalogue: Catalogue, templates: readonly ComponentData[]): ComponentData {
  const known = templates
    .flatMap((template) => modelsIn(template, []))
    .find(({ model }) => !/Replay/.test(kindOf(model.provider)));
  if (known !== undefined && Object.keys(configOf(known.model)).length > 0) return known.model;
  const name = catalogue.names(OPENAI, "model").find((one) => /mini/.test(one)) ?? "gpt-4o-mini";
  return { ...catalogue.empty(OPENAI), config: { model: name } };
}
