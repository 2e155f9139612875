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

  test("is refused as new if one of its loops never ends, and loads as stored with a note", async () => {
    const graph = {
      nodes: {
        ...node("a", { target: "b" }),
        ...node("b", { target: "b", condition: "again" }, { target: "c", condition: "done" }),
        ...node("c"),
      },
    };
    const participants = [agent("a", "a1"), agent("b", "done"), agent("c", "c1")];
    const component = json(graph, { participants, max_turns: 9 });
    const issues = [
      {
        path: "component.config.graph.nodes.b.edges[0]",
        message: expect.stringContaining('"activation_group" of its own'),
      },
    ];
    expect(registry.inspect(component)).toEqual({ issues, notes: [] });
    const inside = { provider: "RoundRobinGroupChat", config: { participants: [component] } };
    const path = "component.config.participants[0].config.graph.nodes.b.edges[0]";
    expect(registry.validate(inside)).toEqual([{ ...issues[0], path }]);
    const invalid = json(graph, { participants, max_turns: 0 });
    expect(registry.validate(invalid)).toEqual([
      { path: "component.config.max_turns", message: expect.any(String) },
      ...issues,
    ]);
    expect(registry.notes(component)).toEqual(expect.arrayContaining(issues));
    const { messages } = await run(registry.load<GraphFlow>(component), { task: "go" });
    expect(lines(messages)).toEqual(["user: go", "a: a1"]);
  });

  type Expected = [path: string, message: RegExp][];
  test.each<[string, JsonObject, Expected]>([
    [
      "unreachable nodes, and nodes that wait for them",
      {
        ...node("a", { target: "c" }),
        ...node("b", { target: "c" }),
        ...node("c"),
      },
      [
        ["nodes.b", /^no path leads from the start \("a"\) to node "b"/],
        ["nodes.c", /^node "c" waits for "b", which never speaks/],
      ],
    ],
    [
      "a join of two branches with different conditions",
      {
        ...node("a", { target: "b", condition: "x" }, { target: "c", condition: "y" }),
        ...node("b", { target: "d" }),
        ...node("c", { target: "d" }),
        ...node("d"),
      },
      [
        [
          "nodes.d",
          /^node "d" waits for all of "b", "c", .*\("x" of "a", "y" of "a"\).*"activation_condition": "any"$/,
        ],
      ],
    ],
    [
      "a join of two branches behind one condition",
      {
        ...node("a", { target: "b", condition: "x" }, { target: "e", condition: "y" }),
        ...node("b", { target: "c" }, { target: "d" }),
        ...node("c", { target: "f" }),
        ...node("d", { target: "f" }),
        ...node("e"),
        ...node("f"),
      },
      [],
    ],
    [
      "a choice that may have lost its conditions",
      { ...node("a", { target: "b" }, { target: "c" }), ...node("b"), ...node("c") },
      [["nodes.a.edges", /^no edge of node "a" has a condition, .*"b", "c".*condition_function$/]],
    ],
    [
      "branches that meet again",
      {
        ...node("a", { target: "b" }, { target: "c" }),
        ...node("b", { target: "e" }),
        ...node("c", { target: "d" }),
        ...node("d", { target: "e" }),
        ...node("e"),
      },
      [],
    ],
  ])("has notes on %s", (_, nodes, expected) => {
    const participants = Object.keys(nodes).map((name) => agent(name, "1"));
    const { issues, notes } = registry.inspect(
      json({ nodes, default_start_node: "a" }, { participants }),
    );
    expect(issues).toEqual([]);
    expect(notes).toEqual(
      expected.map(([path, message]) => ({
        path: `component.config.graph.${path}`,
        message: expect.stringMatching(message),
      })),
    );
  });

  test("is not written without a function that has no name", () => {
    const graph = graphOf({ a: [{ target: "b", condition: () => true }], b: [] });
    const team = new GraphFlow([new TestAgent("a"), new TestAgent("b")], graph);
    expect(() => dumpComponent(team)).toThrow(/from "a" to "b" is a function without a name/);
  });
});
