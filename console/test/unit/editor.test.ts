import { expect, test } from "vitest";
import {
  agentPath,
  innerPath,
  modelPath,
  nodePlace,
  readyTools,
  toolPaths,
  withTool,
} from "../../component/parts.ts";
import {
  hasKeptSecrets,
  isWithin,
  valueAt,
  withValue,
  withStandIns,
} from "../../component/value-path.ts";
import { pictureOf } from "../../picture/picture.ts";

const tool = (name: string, config = {}) => ({
  provider: "autogen_core.tools.FunctionTool",
  component_type: "tool",
  config: { name, ...config },
});
const bench = (...tools: object[]) => ({
  provider: "autogen_core.tools.StaticStreamWorkbench",
  config: { tools },
});
const mcp = {
  provider: "autogen_ext.tools.mcp.McpWorkbench",
  component_type: "workbench",
  config: {},
};
const agent = (name: string, config: object = {}) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: { name, ...config },
});
const team = (...participants: object[]) => ({
  provider: "autogen_agentchat.teams.SelectorGroupChat",
  config: { participants },
});

test("a value is replaced, added and removed in a copy", () => {
  const before = { a: [{ b: 1 }, { b: 2 }], c: "kept" };
  expect(withValue(before, ["a", 1, "b"], 3)).toEqual({ a: [{ b: 1 }, { b: 3 }], c: "kept" });
  expect(withValue(before, ["a", 0], undefined)).toEqual({ a: [{ b: 2 }], c: "kept" });
  expect(withValue(before, ["a", 2], { b: 3 }).a).toHaveLength(3);
  expect(withValue(before, ["a", 1, "b"], undefined)).toEqual({ a: [{ b: 1 }, {}], c: "kept" });
  expect(withValue(before, ["new", "inner"], 1)).toEqual({ ...before, new: { inner: 1 } });
  expect(Object.keys(withValue(before, ["a"], 1))).toEqual(["a", "c"]);
  expect(before).toEqual({ a: [{ b: 1 }, { b: 2 }], c: "kept" });
  expect(valueAt(before, ["a", 1, "b"])).toBe(2);
  expect(valueAt(before, ["c", "d", 0])).toBeUndefined();
});

test("a place is inside of those around it", () => {
  expect(isWithin(["a", 0, "b"], ["a", 0])).toBe(true);
  expect(isWithin(["a"], ["a"])).toBe(true);
  expect(isWithin(["a", 1], ["a", 0])).toBe(false);
  expect(isWithin(["a"], ["a", 0])).toBe(false);
});

test("nodes have the place of their part of the component", () => {
  const society = { provider: "SocietyOfMindAgent", config: { name: "s", team: team(agent("x")) } };
  const component = team(agent("a"), society, team(agent("y")));
  const [manager, , second, third] = pictureOf(component).nodes.map((node) =>
    nodePlace(component, [], node),
  );
  expect(manager).toEqual([]);
  expect(second).toEqual(["config", "participants", 1]);
  const inner = innerPath(component, second ?? []);
  expect(inner).toEqual(["config", "participants", 1, "config", "team"]);
  expect(innerPath(component, third ?? [])).toEqual(third);
  const [, x] = pictureOf(valueAt(component, inner) as object).nodes;
  expect(valueAt(component, nodePlace(component, inner, x!))).toEqual(agent("x"));
  const alone = agent("alone");
  expect(nodePlace(alone, [], pictureOf(alone).nodes[0]!)).toEqual([]);
});

test("filters and caches are looked through", () => {
  const model = { provider: "OpenAIChatCompletionClient", config: { model: "m" } };
  const cached = { provider: "ChatCompletionCache", config: { client: model } };
  const wrapped = agent("a", { model_client: cached });
  const filtered = { provider: "MessageFilterAgent", config: { wrapped_agent: wrapped } };
  const place = agentPath(filtered, []);
  expect(valueAt(filtered, place)).toBe(wrapped);
  expect(valueAt(filtered, modelPath(filtered, place)!)).toBe(model);
  expect(modelPath(agent("human"), [])).toBeUndefined();
});

test("a tool is added where the agent has its tools", () => {
  const b = tool("b");
  const names = (part: object) =>
    toolPaths(part, []).map((place) => valueAt(part, [...place, "config", "name"]));
  expect(withTool(agent("x"), [], b)).toEqual(agent("x", { tools: [b] }));
  expect(withTool(agent("x", { tools: [tool("a")] }), [], b).config).toMatchObject({
    tools: [tool("a"), b],
  });
  const withBench = withTool(agent("x", { workbench: [mcp, bench(tool("a"))] }), [], b);
  expect(withBench.config).toMatchObject({ workbench: [mcp, bench(tool("a"), b)] });
  expect(names(withBench)).toEqual([undefined, "a", "b"]);
  // Version 1 has a single workbench.
  expect(withTool(agent("x", { workbench: bench(tool("a")) }), [], b).config).toMatchObject({
    workbench: bench(tool("a"), b),
  });
  const besideMcp = withTool(agent("x", { workbench: [mcp] }), [], b);
  expect(names(besideMcp)).toEqual([undefined, "b"]);
});

test("an agent that gets a workbench has its tools in another one", () => {
  const changed = withTool(agent("x", { tools: [tool("a")] }), [], mcp);
  expect(changed.config).not.toHaveProperty("tools");
  expect(changed.config).toMatchObject({ workbench: [{ config: { tools: [tool("a")] } }, mcp] });
});

test("stored secrets are expected for the tools that stay when another one is removed", () => {
  const secret = (token: string) => tool("secret", { headers: { token } });
  const mcpBench = (token: string) => ({ config: { server_params: { headers: { token } } } });
  const stored = agent("x", { tools: [tool("a"), secret("**********"), mcpBench("**********")] });
  const left = agent("x", { tools: [secret("**********"), mcpBench("**********")] });
  expect(withStandIns(left, stored)).toEqual(
    agent("x", { tools: [secret("stored"), mcpBench("stored")] }),
  );
  expect(hasKeptSecrets(stored)).toBe(true);
  expect(hasKeptSecrets(tool("a"))).toBe(false);
});

test("complete tools of other components are offered once, without those that have secrets", () => {
  const secret = tool("secret", { headers: { token: "**********" } });
  const components = [
    team(agent("x", { tools: [tool("b"), secret] })),
    agent("y", { workbench: [bench(tool("a"), tool("b"))] }),
  ];
  expect(readyTools(components)).toEqual([tool("a"), tool("b")]);
});
