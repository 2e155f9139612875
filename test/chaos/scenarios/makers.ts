import type { ComponentModel, JsonObject } from "troupe";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import {
  assistant,
  component,
  modelClient,
  type Services,
  STREAMING,
  team,
  tools,
} from "./components.ts";
import { PACED, type Scenario } from "./scenario.ts";

/** Models whose servers refuse a request without what they gave before, or with what has changed. */
const MODELS: { readonly [name: string]: (services: Services) => ComponentModel } = {
  "signed thinking": ({ model }) =>
    component("autogen_ext.models.anthropic.AnthropicChatCompletionClient", {
      model: "claude-sonnet-4-5",
      base_url: new URL(model).origin,
      api_key: "sk-chaos",
      thinking: { type: "enabled", budget_tokens: 2000 },
    }),
  "signed calls": ({ model }) =>
    modelClient({ model: `${new URL(model).origin}/v1beta/openai/` }, { model: "gemini-3-pro" }),
  "reasoning with calls": (services) => modelClient(services, { model: "deepseek-v4-pro" }),
  "sealed reasoning": (services) => modelClient(services, { model: "gpt-5.6", api: "responses" }),
};

const argumentsOf = (tool: string): Record<string, string> =>
  tool.startsWith("transfer") ? {} : { what: tool };

const says = (
  name: string,
  match: NonNullable<RuleInput["match"]>,
  ...called: string[]
): RuleInput => ({
  name,
  match,
  pace_ms: 2,
  reply: {
    reasoning: `I think of ${name}.`,
    redacted: true,
    tool_calls: called.map((tool) => ({
      name: tool,
      arguments: argumentsOf(tool),
    })),
  },
});

const RULES: readonly RuleInput[] = [
  says(
    "ann hands over",
    { system: "You are ann.", text: "note happened" },
    "look_up",
    "transfer_to_ben",
  ),
  says("ann goes on", { system: "You are ann.", role: "tool" }, "note"),
  says("ann begins", { system: "You are ann." }, "look_up"),
  says("ben looks", { system: "You are ben.", role: "user" }, "look_up"),
  PACED,
];

const agent = (
  services: Services,
  name: string,
  model_client: ComponentModel,
  config: JsonObject,
) =>
  assistant(services, name, {
    ...STREAMING,
    ...tools("look_up", "note"),
    model_client: model_client as unknown as JsonObject,
    max_tool_iterations: 5,
    ...config,
  });

/** Two agents: the first calls tools in two steps and hands over with a result, the other calls one and answers. */
export const MAKERS: readonly Scenario[] = Object.entries(MODELS).map(([name, client]) => ({
  name,
  component: (services) =>
    team(
      "Swarm",
      [
        agent(services, "ann", client(services), { handoffs: ["ben"] }),
        agent(services, "ben", client(services), {}),
      ],
      {
        max_turns: 4,
        termination_condition: component("autogen_agentchat.conditions.TextMessageTermination", {
          source: "ben",
        }),
      },
    ),
  rules: RULES,
  task: "Look it up.",
}));
