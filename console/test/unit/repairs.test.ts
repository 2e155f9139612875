import { expect, test } from "vitest";
import type { ComponentData } from "../../component/catalogue.ts";
import { withConnection } from "../../component/connections.ts";
import { graphFlaws } from "../../component/graph-flaws.ts";
import { edgesIn, startsIn } from "../../component/graph.ts";
import { fromPython } from "../../component/python-json.ts";
import { explained, type Mistake } from "../../component/repairs.ts";
import { silentAgents } from "../../component/silent-agents.ts";
import { kindOf, shortKindOf, titleOf } from "../../teams/kinds.ts";
import { labelOf } from "../../component/setting-labels.ts";

type Edge = { target: string; [key: string]: string };

/** A graph of assistants by the edges that leave them. */
function graph(edges: Record<string, Edge[]>, config: object = {}): ComponentData {
  return {
    provider: "autogen_agentchat.teams.GraphFlow",
    config: {
      participants: Object.keys(edges).map((name) => ({
        provider: "autogen_agentchat.agents.AssistantAgent",
        config: { name },
      })),
      graph: {
        nodes: Object.fromEntries(
          Object.entries(edges).map(([name, leaving]) => [name, { name, edges: leaving }]),
        ),
      },
      ...config,
    },
  };
}

/** The component after the repairs of all its flaws, one after the other. */
function repaired(root: ComponentData): ComponentData {
  for (let next = root, tries = 0; tries < 10; tries++) {
    const flaw = graphFlaws(next, []).find(({ repair }) => repair?.change !== undefined);
    if (flaw?.repair?.change === undefined) return next;
    next = flaw.repair.change(next);
  }
  throw new Error("the repairs do not end");
}

test("an edge that closes a loop starts its target by itself, and the graph begins where it began", () => {
  const next = withConnection(
    graph({ a: [{ target: "b" }], b: [{ target: "c" }], c: [] }),
    [],
    "b",
    "a",
  );
  expect(edgesIn(next, []).filter(({ from }) => from === "b")).toMatchObject([
    { target: "c", any: false, group: "c" },
    { target: "a", any: true, group: "a_again" },
  ]);
  expect(startsIn(next, [])).toEqual(["a"]);
  expect(next.config).toMatchObject({ max_turns: 20 });
});

test("an edge into a loop from outside does not make the loop wait for it", () => {
  const loop = graph(
    {
      a: [{ target: "b" }],
      b: [
        { target: "a", condition: "X" },
        { target: "c", condition: "Y" },
      ],
      c: [],
      z: [],
    },
    { max_turns: 5 },
  );
  const next = withConnection(loop, [], "z", "a");
  expect(edgesIn(next, []).filter(({ target }) => target === "a")).toMatchObject([
    { from: "b", any: true, group: "a_again" },
    { from: "z", any: false, group: "a" },
  ]);
});

test("an edge that closes no loop stays as it was drawn, and so does a limit that the team has", () => {
  const chain = graph({ a: [{ target: "b" }], b: [], c: [] }, { max_turns: 5 });
  const next = withConnection(chain, [], "b", "c");
  expect(edgesIn(next, []).at(-1)).toMatchObject({ from: "b", target: "c", any: false });
  expect(withConnection(next, [], "c", "a").config).toMatchObject({ max_turns: 5 });
});

test("each flaw of a graph has a sentence at its edge, and repairs that remove all of them", () => {
  const texts = (root: ComponentData): string[] =>
    graphFlaws(root, []).map(({ message }) => message);
  const endless = graph({ a: [{ target: "b" }], b: [{ target: "a" }] });
  expect(texts(endless)).toEqual([
    expect.stringContaining("needs a condition and an agent with which it ends"),
    expect.stringContaining("begins with none"),
    expect.stringContaining("needs a limit"),
  ]);
  expect(texts(repaired(endless))).toEqual([]);
  const stuck = graph({
    z: [{ target: "a" }],
    a: [{ target: "b" }],
    b: [
      { target: "a", condition: "X" },
      { target: "c", condition: "Y" },
    ],
    c: [],
  });
  expect(texts(stuck)[0]).toBe(
    "a waits for this edge of its loop and for the one from z at the same time, so the loop never continues.",
  );
  expect(texts(repaired(stuck))).toEqual([]);
  const mixed = graph({ a: [{ target: "b", condition: "X" }, { target: "c" }], b: [], c: [] });
  expect(graphFlaws(mixed, [])).toMatchObject([
    { repair: { show: ["config", "graph", "nodes", "a", "edges", 1, "condition"] } },
  ]);
  const differing = graph({
    a: [{ target: "b" }],
    c: [{ target: "b", activation_condition: "any" }],
    b: [],
  });
  expect(edgesIn(repaired(differing), []).map(({ any }) => any)).toEqual([true, true]);
});

test("agents that no edge or handoff reaches are named, and those that wait for them", () => {
  const nodes = graph({ a: [{ target: "b" }], b: [], x: [{ target: "x" }, { target: "b" }] });
  expect([...silentAgents(nodes, [])].map(([name, { message }]) => [name, message])).toEqual([
    ["b", "b never speaks: it waits for x, which never speaks either."],
    ["x", "x never speaks: no edge leads to it."],
  ]);
  const round = { ...nodes, provider: "autogen_agentchat.teams.RoundRobinGroupChat", config: {} };
  expect(silentAgents(round, []).size).toBe(0);
});

test("wrong keys and classes are named with what was meant", () => {
  const root = { provider: "Assistant", config: { max_turn: 3 } } as ComponentData;
  const at = (path: Mistake["path"], message: string): Mistake => explained({ path, message });
  const key = at(
    ["config", "max_turn"],
    'is not a key of RoundRobinGroupChat and has no effect; did you mean "max_turns"?',
  );
  expect(key.message).toBe(
    "max_turn is not a setting of RoundRobinGroupChat and has no effect. Did you mean max_turns?",
  );
  expect(key.repair?.change?.(root).config).toEqual({ max_turns: 3 });
  const other = at(["config", "max_turn"], "is not a key of Swarm and has no effect");
  expect(other.repair?.change?.(root).config).toEqual({});
  const provider = at(
    ["provider"],
    'unknown provider "Assistant"; did you mean a.b.AssistantAgent?',
  );
  expect(provider.repair?.change?.(root).provider).toBe("a.b.AssistantAgent");
  expect(
    at(["provider"], 'unknown provider "my.Mine"; a class of your own must be …').message,
  ).toBe(
    "This server has no class my.Mine. A class of your own has to be registered in its Worker.",
  );
});

test("a value that Python prints is read as JSON", () => {
  const text = `{'name': 'it\\'s "so"', "none": "None", 'a': [None, True, False,],}  # a note`;
  expect(JSON.parse(fromPython(text)?.json ?? "")).toEqual({
    name: `it's "so"`,
    none: "None",
    a: [null, true, false],
  });
  expect(fromPython(text)?.found).toContain("None");
  expect(fromPython("{name: 1}")).toBeUndefined();
  expect(fromPython("{'a': AssistantAgent()}")).toBeUndefined();
});

test("classes and settings have the names that people know, with abbreviations as they are written", () => {
  const names = {
    SseMcpToolAdapter: "Tool of an MCP server over SSE",
    ChromaDBVectorMemory: "ChromaDB memory",
    AndTerminationCondition: "All of several conditions",
    HttpTool: "HTTP tool",
    JavaScriptTool: "JavaScript tool",
    A2AAgent: "A2A agent",
    ACADynamicSessionsCodeExecutor: "ACA dynamic sessions code executor",
    OpenAIEmbeddingClient: "OpenAI embedding client",
    UserProxyAgent: "User proxy agent",
  };
  for (const [name, text] of Object.entries(names))
    expect(kindOf(`some.module.${name}`)).toBe(text);
  expect(shortKindOf("autogen_ext.models.openai.AzureOpenAIChatCompletionClient")).toBe(
    "Azure OpenAI",
  );
  expect(titleOf("http_requests")).toBe("HTTP requests");
  expect(titleOf("My Team")).toBe("My Team");
  expect(["system_message", "instructions", "instruction"].map(labelOf)).toEqual(
    Array(3).fill("System message"),
  );
  expect(labelOf("model_client_stream")).toBe("Show answers while they are written");
});
