import type { ComponentModel } from "troupe";
import type { RuleInput } from "./fake-openai/rule.ts";

/** A tool that answers with what it is asked to look up. */
export const lookUp = (port: number): ComponentModel => ({
  provider: "autogen_ext.tools.http.HttpTool",
  config: {
    name: "look_up",
    host: "127.0.0.1",
    port,
    path: "/{word}",
    method: "GET",
    json_schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  },
});

interface Part {
  model_client: ComponentModel;
  tool: ComponentModel;
  stream: boolean;
}

const agent = (name: string, { model_client, tool, stream }: Part, config: object) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: `${name} works.`,
    system_message: `You are ${name}.`,
    model_client,
    tools: [tool],
    model_client_stream: stream,
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    ...config,
  },
});

/** Two agents: the first one calls tools in two steps and hands over with a result; the other one calls one, and answers. */
export const swarm = (first: Part, second: Part = first): ComponentModel => ({
  provider: "autogen_agentchat.teams.Swarm",
  config: {
    participants: [
      agent("ann", first, { handoffs: ["bob"], max_tool_iterations: 5 }),
      agent("bob", second, { max_tool_iterations: 5 }),
    ],
    termination_condition: {
      provider: "autogen_agentchat.conditions.TextMessageTermination",
      config: { source: "bob" },
    },
  },
});

/** One agent that calls tools and says what came of it without any. */
export const reflecting = (part: Part): ComponentModel => ({
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: { participants: [agent("eve", part, { reflect_on_tool_use: true })], max_turns: 1 },
});

const calls = (...words: string[]) =>
  words.map((word) => ({ name: "look_up", arguments: { word } }));

/** What the models of these teams say. */
export const TEAM_RULES: readonly RuleInput[] = [
  {
    name: "hands over",
    match: { system: "You are ann", role: "tool", text: "second" },
    reply: {
      reasoning: "Bob should go on.",
      tool_calls: [...calls("third"), { name: "transfer_to_bob" }],
    },
  },
  {
    name: "goes on",
    match: { system: "You are ann", role: "tool" },
    reply: { reasoning: "Now the second.", tool_calls: calls("second") },
  },
  {
    name: "begins",
    match: { system: "You are ann" },
    reply: { reasoning: "I look up both.", tool_calls: calls("first", "other") },
  },
  {
    name: "ends",
    match: { role: "tool" },
    reply: { reasoning: "I know.", content: "It is done." },
  },
  { name: "again", match: { text: "And then?" }, reply: { content: "Nothing." } },
  {
    name: "looks",
    reply: { reasoning: "I look it up.", redacted: true, tool_calls: calls("fourth") },
  },
];
