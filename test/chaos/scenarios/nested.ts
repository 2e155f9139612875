import type { ComponentModel, JsonObject } from "troupe";
import {
  assistant,
  callsTools,
  component,
  graph,
  roundRobin,
  STREAMING,
  tools,
} from "./components.ts";
import { PACED, type Scenario } from "./scenario.ts";

/** Teams and agents inside others. */
export const NESTED: readonly Scenario[] = [
  {
    name: "nested team",
    component: (services) =>
      roundRobin(
        [
          roundRobin(
            [assistant(services, "inner_a", STREAMING), assistant(services, "inner_b", STREAMING)],
            2,
            { name: "inner", description: "A team inside." },
          ),
          assistant(services, "outer"),
        ],
        2,
      ),
    rules: [PACED],
    task: "Work inside.",
  },
  {
    name: "agent as a tool",
    component: (services) =>
      roundRobin(
        [
          assistant(services, "boss", {
            ...STREAMING,
            reflect_on_tool_use: true,
            tools: [
              component("autogen_agentchat.tools.AgentTool", {
                agent: assistant(services, "expert", {
                  ...tools("look_up", "charge"),
                  reflect_on_tool_use: true,
                }),
              }),
            ] as unknown as JsonObject[],
          }),
        ],
        1,
      ),
    rules: [
      {
        name: "boss calls",
        match: { system: "You are boss.", role: "user" },
        reply: { tool_calls: [{ name: "expert", arguments: { task: "Find it out." } }] },
      },
      callsTools("expert", "look_up", "charge"),
      PACED,
    ],
    task: "Ask the expert.",
  },
  {
    name: "team as a tool",
    component: (services) =>
      roundRobin(
        [
          assistant(services, "boss", {
            ...STREAMING,
            reflect_on_tool_use: true,
            tools: [
              component("autogen_agentchat.tools.TeamTool", {
                name: "office",
                description: "An office.",
                team: roundRobin(
                  [
                    assistant(services, "clerk", { ...tools("charge"), reflect_on_tool_use: true }),
                    assistant(services, "checker", STREAMING),
                  ],
                  2,
                ),
              }),
            ] as unknown as JsonObject[],
          }),
        ],
        1,
      ),
    rules: [
      {
        name: "boss calls twice",
        match: { system: "You are boss.", role: "user" },
        reply: {
          tool_calls: [
            { name: "office", arguments: { task: "The first thing." } },
            { name: "office", arguments: { task: "The second thing." } },
          ],
        },
      },
      callsTools("clerk", "charge"),
      PACED,
    ],
    task: "Ask the office.",
  },
  {
    name: "three deep, side by side",
    sideBySide: true,
    component: (services) => {
      const pair = (name: string): ComponentModel =>
        roundRobin(
          [assistant(services, `${name}_a`, STREAMING), assistant(services, `${name}_b`)],
          2,
          { name, description: "A team inside a graph." },
        );
      const fork = graph(
        [pair("left"), pair("right"), assistant(services, "join", STREAMING)],
        { left: ["join"], right: ["join"] },
        { name: "fork", description: "A graph inside a team." },
      );
      return roundRobin([fork, assistant(services, "last", STREAMING)], 2);
    },
    rules: [PACED],
    task: "Work inside.",
  },
];
