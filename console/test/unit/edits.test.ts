import { expect, test } from "vitest";
import { Catalogue, type ComponentData } from "../../component/catalogue.ts";
import {
  freeName,
  modelsIn,
  namesIn,
  withHandoff,
  withKind,
  withName,
  withOrder,
  withoutParticipant,
  withParticipant,
  wrongName,
} from "../../component/edits.ts";
import { edgesFrom, entryOf, withEdge, withEntry } from "../../component/graph.ts";
import { valueAt, withoutSecrets, withStandIns } from "../../component/value-path.ts";

const agent = (name: string, config: object = {}): ComponentData => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: { name, ...config },
});
const team = (kind: string, participants: ComponentData[], config: object = {}): ComponentData => ({
  provider: `autogen_agentchat.teams.${kind}`,
  config: { participants, ...config },
});
const handoff = { target: "b", name: "transfer_to_b", message: "Go." };
const swarm = team("Swarm", [
  agent("a", { handoffs: ["b", "user"] }),
  agent("b", { handoffs: ["a"] }),
  agent("c", { handoffs: [handoff, { target: "b", name: "ask_b" }] }),
]);
const graph = team("GraphFlow", [agent("a"), agent("b"), agent("c")], {
  graph: {
    default_start_node: "b",
    nodes: {
      a: { name: "a", edges: [{ target: "b", condition: "GO" }, { target: "c" }] },
      b: { name: "b", edges: [{ target: "a" }] },
      c: { name: "c", edges: [] },
    },
  },
});

const handoffsOf = (root: unknown, index: number): unknown =>
  valueAt(root, ["config", "participants", index, "config", "handoffs"]);
const targets = (root: unknown, name: string): string[] =>
  edgesFrom(root, [], name).map(({ target }) => target);

test("an agent is removed from a swarm with the handoffs to it", () => {
  const next = withoutParticipant(swarm, [], 1);
  expect(namesIn(next, [])).toEqual(["a", "c"]);
  expect(handoffsOf(next, 0)).toEqual(["user"]);
  expect(handoffsOf(next, 1)).toEqual([]);
  expect(namesIn(swarm, [])).toEqual(["a", "b", "c"]);
});

test("handoffs follow a new name, and so does a tool that was named by the old one", () => {
  const next = withName(swarm, [], 1, "Boss");
  expect(namesIn(next, [])).toEqual(["a", "Boss", "c"]);
  expect(handoffsOf(next, 0)).toEqual(["Boss", "user"]);
  expect(handoffsOf(next, 2)).toEqual([
    { target: "Boss", name: "transfer_to_boss", message: "Go." },
    { target: "Boss", name: "ask_b" },
  ]);
});

test("an agent is added to a swarm with a handoff, and connected once", () => {
  const next = withParticipant(swarm, [], agent("d"), "b");
  expect(namesIn(next, [])).toEqual(["a", "b", "c", "d"]);
  expect(handoffsOf(next, 1)).toEqual(["a", "d"]);
  expect(withHandoff(next, [], "b", "d")).toBe(next);
  expect(handoffsOf(withHandoff(next, [], "d", "a"), 3)).toEqual(["a"]);
});

test("an agent is removed from a graph with its edges and as its beginning", () => {
  const next = withoutParticipant(graph, [], 1);
  expect(targets(next, "a")).toEqual(["c"]);
  expect(entryOf(next, [])).toBe("");
  expect(Object.keys(valueAt(next, ["config", "graph", "nodes"]) as object)).toEqual(["a", "c"]);
});

test("edges of a graph follow a new name", () => {
  const next = withName(graph, [], 1, "z");
  expect(targets(next, "a")).toEqual(["z", "c"]);
  expect(edgesFrom(next, [], "a")[0]?.condition).toBe("GO");
  expect(targets(next, "z")).toEqual(["a"]);
  expect(entryOf(next, [])).toBe("z");
  expect(Object.keys(valueAt(next, ["config", "graph", "nodes"]) as object)).toEqual([
    "a",
    "z",
    "c",
  ]);
});

test("an agent is added to a graph after another one, and edges are not doubled", () => {
  const next = withParticipant(graph, [], agent("d"), "c");
  expect(targets(next, "c")).toEqual(["d"]);
  expect(targets(next, "d")).toEqual([]);
  expect(withEdge(next, [], "c", "d")).toBe(next);
  // The one that exists has a condition.
  expect(targets(withEdge(next, [], "a", "b"), "a")).toEqual(["b", "c", "b"]);
  expect(entryOf(withEntry(next, [], "a"), [])).toBe("a");
});

test("the order of agents changes, and stored secrets are expected where the agents are", () => {
  expect(namesIn(withOrder(swarm, [], 2, 0), [])).toEqual(["c", "a", "b"]);
  const keyed = (name: string, api_key: string): ComponentData =>
    agent(name, { model_client: { config: { api_key } } });
  const stored = team("RoundRobinGroupChat", [agent("a"), keyed("b", "**********"), agent("c")]);
  const moved = withoutParticipant(withOrder(stored, [], 2, 0), [], 1);
  expect(namesIn(moved, [])).toEqual(["c", "b"]);
  expect(withStandIns(moved, stored)).toEqual(
    team("RoundRobinGroupChat", [agent("c"), keyed("b", "stored")]),
  );
  const renamed = withName(stored, [], 1, "z");
  expect(withStandIns(renamed, stored)).toEqual(
    team("RoundRobinGroupChat", [agent("a"), keyed("z", "stored"), agent("c")]),
  );
});

test("names of agents are free and can be identifiers", () => {
  expect(freeName(["a"], "b")).toBe("b");
  expect(freeName(["b", "b_2"], "b")).toBe("b_3");
  expect(wrongName("", [])).toMatch("required");
  expect(wrongName("2 words", [])).toMatch("letters");
  expect(wrongName("a", ["a"])).toMatch("Another agent");
  expect(wrongName("Ärztin_2", ["a"])).toBeUndefined();
});

test("a model is copied without its stored secrets, which the check of changes does not miss", () => {
  const client = {
    provider: "OpenAIChatCompletionClient",
    config: { model: "m", api_key: "**********", default_headers: { a: "**********", b: "c" } },
  };
  const root = team("RoundRobinGroupChat", [agent("a", { model_client: client }), agent("b")]);
  expect(modelsIn(root, [])).toEqual([
    {
      name: "a",
      model: { ...client, config: { model: "m", default_headers: { b: "c" } } },
    },
  ]);
  expect(withoutSecrets(["**********", "a"])).toEqual(["a"]);
  const typed = { key: "**********", moved: "**********" };
  expect(withStandIns(typed, { key: "**********" })).toEqual({
    key: "stored",
    moved: "**********",
  });
});

const catalogue = new Catalogue(
  (
    [
      ["Swarm", ["participants"], ["participants", "max_turns"]],
      ["GraphFlow", ["participants", "graph"], ["participants", "max_turns", "graph"]],
      ["SelectorGroupChat", ["participants", "model_client"], ["participants", "model_client"]],
    ] as const
  ).map(([name, required, keys]) => ({
    provider: `autogen_agentchat.teams.${name}`,
    component_type: "team",
    component_version: 1,
    config: {
      type: "object",
      required: [...required],
      properties: Object.fromEntries(keys.map((key) => [key, {}])),
    },
  })),
);

test("a team of another kind keeps its agents and the fields that both kinds have", () => {
  const before = team("Swarm", [agent("a"), agent("b")], { max_turns: 3 });
  const flow = withKind(before, [], "autogen_agentchat.teams.GraphFlow", catalogue);
  expect(flow.provider).toBe("autogen_agentchat.teams.GraphFlow");
  expect(flow.config?.["max_turns"]).toBe(3);
  expect(targets(flow, "a")).toEqual(["b"]);
  const back = withKind(flow, [], "autogen_agentchat.teams.Swarm", catalogue);
  expect(back.config).toEqual(before.config);
});

test("a selector has the model of its first agent that has one", () => {
  const client = { provider: "M", config: { model: "m" } };
  const before = team("Swarm", [agent("a"), agent("b", { model_client: client })]);
  const next = withKind(before, [], "autogen_agentchat.teams.SelectorGroupChat", catalogue);
  expect(next.config?.["model_client"]).toEqual(client);
});
