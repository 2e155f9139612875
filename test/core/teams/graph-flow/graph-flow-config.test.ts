import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  GraphFlow,
  coreComponents,
  dumpComponent,
  run,
  toText,
} from "troupe";
import type { JsonObject } from "troupe";
import { lines, TestAgent } from "../../support/agents.ts";
import { graphOf } from "./graphs.ts";

const catalog = new Catalog();
catalog.registerFunction(
  "is_long",
  (message: Parameters<typeof toText>[0]) => toText(message).length > 9,
);
const registry = new ComponentRegistry({ functions: catalog }).register(...coreComponents(catalog));

const agent = (name: string, ...replies: string[]): JsonObject => ({
  provider: "AssistantAgent",
  config: {
    name,
    description: "Helps.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: { provider: "ReplayChatCompletionClient", config: { chat_completions: replies } },
  },
});

const json = (graph: JsonObject, config: JsonObject = {}): JsonObject => ({
  provider: "autogen_agentchat.teams.GraphFlow",
  config: {
    participants: [agent("a", "a long text", "short"), agent("b", "b1", "b2")],
    graph,
    ...config,
  },
});

const node = (name: string, ...edges: JsonObject[]) => ({ [name]: { name, edges } });

describe("a graph in component JSON", () => {
  test("has AutoGen's keys, with their defaults", () => {
    const team = registry.load<GraphFlow>(
      json({ nodes: { a: { name: "a", edges: [{ target: "b" }] }, b: { name: "b" } } }),
    );
    const { config } = dumpComponent(team);
    expect(config).toMatchObject({ name: "GraphFlow", description: "A team of agents" });
    expect(config).not.toHaveProperty("emit_team_events");
    expect(config["graph"]).toEqual({
      nodes: {
        a: {
          name: "a",
          edges: [{ target: "b", activation_group: "b", activation_condition: "all" }],
          activation: "all",
        },
        b: { name: "b", edges: [], activation: "all" },
      },
    });
  });

  test("is dumped as it was loaded", async () => {
    const graph: JsonObject = {
      nodes: {
        a: {
          name: "a",
          edges: [
            {
              target: "b",
              condition_function: "is_long",
              activation_group: "g",
              activation_condition: "any",
            },
            { target: "a", condition: "again", activation_group: "a", activation_condition: "all" },
          ],
          activation: "any",
        },
        b: { name: "b", edges: [], activation: "all" },
      },
      default_start_node: "a",
    };
    const team = registry.load<GraphFlow>(json(graph, { max_turns: 4, emit_team_events: true }));
    const { config } = dumpComponent(team);
    expect(config).toMatchObject({ graph, max_turns: 4, emit_team_events: true });
    const again = registry.load<GraphFlow>(dumpComponent(team));
    expect(dumpComponent(again)).toEqual(dumpComponent(team));
  });

  test("names functions that are registered", async () => {
    const graph = {
      nodes: { ...node("a", { target: "b", condition_function: "is_long" }), ...node("b") },
    };
    const team = registry.load<GraphFlow>(json(graph));
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "a: a long text",
      "b: b1",
    ]);
    expect(lines((await run(team, { task: "go" })).messages)).toEqual(["user: go", "a: short"]);
  });

  test.each<[JsonObject, string]>([
    [{ nodes: [] }, "component.config.graph.nodes"],
    [{ nodes: { a: { edges: [] } } }, "component.config.graph.nodes.a.name"],
    [{ nodes: node("a", { condition: "x" }) }, "component.config.graph.nodes.a.edges[0].target"],
    [
      { nodes: node("a", { target: "a", condition: 5 }) },
      "component.config.graph.nodes.a.edges[0].condition",
    ],
    [
      { nodes: node("a", { target: "a", activation_condition: "some" }) },
      "component.config.graph.nodes.a.edges[0].activation_condition",
    ],
    [
      { nodes: { a: { name: "a", activation: "no" } } },
      "component.config.graph.nodes.a.activation",
    ],
    [{ nodes: node("a"), default_start_node: 5 }, "component.config.graph.default_start_node"],
    [
      { nodes: node("a", { target: "b", condition_function: "is_lung" }) },
      "component.config.graph.nodes.a.edges[0].condition_function",
    ],
    [
      { nodes: node("a", { target: "b", condition: "x", condition_function: "is_long" }) },
      "component.config.graph.nodes.a.edges[0].condition_function",
    ],
  ])("is refused with the place of the mistake: %j", (graph, path) => {
    expect(registry.validate(json(graph)).map((issue) => issue.path)).toEqual([path]);
  });

  test("is refused when it cannot run, with every reason", () => {
    const loop = { nodes: { ...node("a", { target: "b" }), ...node("b", { target: "a" }) } };
    expect(registry.validate(json({ ...loop, default_start_node: "a" }))).toEqual([
      {
        path: "component.config.graph.nodes",
        message: expect.stringContaining("no node is an end"),
      },
      {
        path: "component.config.graph.nodes.a",
        message: expect.stringMatching(/the cycle a -> b -> a .* condition_function$/),
      },
      { path: "component.config.termination_condition", message: expect.any(String) },
    ]);
    const stranger = { nodes: { ...node("a", { target: "c" }), ...node("c") } };
    expect(registry.validate(json(stranger))).toEqual([
      {
        path: "component.config.graph.nodes.c",
        message: 'node "c" is not a participant; the participants are: a, b',
      },
    ]);
  });

  test("a function without a name is not left out of it", () => {
    const graph = graphOf({ a: [{ target: "b", condition: () => true }], b: [] });
    const team = new GraphFlow([new TestAgent("a"), new TestAgent("b")], graph);
    expect(() => dumpComponent(team)).toThrow(/from "a" to "b" is a function without a name/);
  });
});
