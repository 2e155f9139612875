import type { CreateTeam } from "troupe/client";
import type { RuleInput } from "../../../test/support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";

type Component = NonNullable<CreateTeam["component"]>;

/** Prices of the models of {@link office}. */
export const OFFICE_PRICES = JSON.stringify({
  "gpt-4o": { input: 2.5, output: 10 },
  "gpt-4o-mini": { input: 0.15, output: 0.6 },
});

const RULES: RuleInput[] = [
  {
    name: "busy",
    match: { system: "You write." },
    times: 1,
    fault: { kind: "status", status: 429, headers: { "retry-after-ms": "300" } },
  },
  {
    name: "calculate",
    match: { system: "You calculate.", role: "user" },
    delay_ms: 150,
    reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
  },
  {
    name: "reflect",
    match: { system: "You calculate.", role: "tool" },
    delay_ms: 200,
    reply: { content: "Six times seven is 42." },
  },
  { name: "write", match: { system: "You write." }, pace_ms: 15, reply: { words: 40 } },
];

/** A server of models for {@link office}. */
export function officeModels(rules: RuleInput[] = []): Promise<FakeOpenAI> {
  return startFakeOpenAI({ rules: [...rules, ...RULES] });
}

/**
 * A clerk who calculates with a tool, a writer whose model refuses the first call, and a human, in turns.
 *
 * @param url the address of the models
 */
export function office(url: string, maxTurns = 3): Component {
  const model = (name: string) => ({
    provider: "OpenAIChatCompletionClient",
    config: { model: name, base_url: url, api_key: "test" },
  });
  return {
    provider: "RoundRobinGroupChat",
    config: {
      max_turns: maxTurns,
      participants: [
        {
          provider: "AssistantAgent",
          config: {
            name: "clerk",
            system_message: "You calculate.",
            model_client: model("gpt-4o"),
            tools: [{ provider: "FunctionTool", config: { name: "calculator" } }],
            reflect_on_tool_use: true,
          },
        },
        {
          provider: "AssistantAgent",
          config: {
            name: "writer",
            system_message: "You write.",
            model_client: model("gpt-4o-mini"),
            model_client_stream: true,
          },
        },
        { provider: "UserProxyAgent", config: { name: "human" } },
      ],
    },
  };
}
