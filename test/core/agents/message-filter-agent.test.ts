import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  MessageFilterAgent,
  RoundRobinGroupChat,
  coreComponents,
  dumpComponent,
  reset,
  run,
  type TaskMessage,
} from "troupe";
import type { JsonObject, PerSourceFilter } from "troupe";
import { StateTree } from "#core/state/state-tree.ts";
import { lines, TestAgent } from "../support/agents.ts";

const says = (source: string, ...contents: string[]): TaskMessage[] =>
  contents.map((content) => ({ type: "TextMessage", source, content }));

async function heard(...perSource: PerSourceFilter[]): Promise<string[]> {
  const inner = new TestAgent("inner");
  const agent = new MessageFilterAgent({
    name: "picky",
    wrappedAgent: inner,
    filter: { perSource },
  });
  const task = [...says("a", "a1", "a2", "a3"), ...says("b", "b1"), ...says("a", "a4")];
  await run(agent, { task });
  return inner.heard[0] ?? [];
}

describe("a filter", () => {
  test.each<[string, PerSourceFilter, string[]]>([
    ["the first", { source: "a", position: "first", count: 2 }, ["a1", "a2"]],
    ["the last", { source: "a", position: "last", count: 2 }, ["a3", "a4"]],
    ["more than there are", { source: "a", position: "last", count: 9 }, ["a1", "a2", "a3", "a4"]],
    ["none of the first", { source: "a", position: "first", count: 0 }, []],
    ["none of the last", { source: "a", position: "last", count: 0 }, []],
    ["all without a position", { source: "a" }, ["a1", "a2", "a3", "a4"]],
    ["all without a count", { source: "b", position: "first" }, ["b1"]],
    ["nothing of a stranger", { source: "c", position: "first", count: 1 }, []],
  ])("lets through %s", async (_what, filter, expected) => {
    expect(await heard(filter)).toEqual(expected);
  });

  test("follows its own order of sources, and may name one twice", async () => {
    const first: PerSourceFilter = { source: "a", position: "first", count: 1 };
    const last: PerSourceFilter = { source: "a", position: "last", count: 1 };
    expect(await heard({ source: "b" }, last, first)).toEqual(["b1", "a4", "a1"]);
  });

  test("sees only messages that are new to its agent", async () => {
    const inner = new TestAgent("critic");
    const filter = { perSource: [{ source: "user" }] };
    const critic = new MessageFilterAgent({ name: "critic", wrappedAgent: inner, filter });
    const team = new RoundRobinGroupChat([new TestAgent("writer"), critic], { maxTurns: 4 });
    await run(team, { task: "go" });
    expect(inner.heard).toEqual([["go"], []]);
  });

  test("that has a count and no position is refused, with its place", () => {
    const wrappedAgent = new TestAgent("inner");
    const filter = { perSource: [{ source: "a" }, { source: "b", count: 1 }] };
    expect(() => new MessageFilterAgent({ name: "picky", wrappedAgent, filter })).toThrow(
      expect.objectContaining({
        code: "invalid_value",
        issues: [{ path: "filter.per_source[1].position", message: expect.any(String) }],
      }),
    );
  });
});

describe("the wrapped agent", () => {
  const make = () => {
    const inner = new TestAgent("inner");
    const filter = { perSource: [{ source: "user" }] };
    return { inner, agent: new MessageFilterAgent({ name: "outer", wrappedAgent: inner, filter }) };
  };

  test("speaks under its own name", async () => {
    const { agent } = make();
    expect(lines((await run(agent, { task: "go" })).messages)).toEqual([
      "user: go",
      "inner: inner1",
    ]);
    expect(agent.description).toBe("inner is made for a test. (with message filtering)");
    expect(agent.producedMessageTypes).toEqual(["TextMessage"]);
  });

  test("is paused, resumed, reset and closed with the wrapper", async () => {
    const { agent, inner } = make();
    await agent.onPause();
    await agent.onResume();
    await reset(agent);
    await agent.close();
    expect(inner.calls).toEqual(["pause", "resume", "reset", "close"]);
  });

  test("has its state saved, which AutoGen forgets", async () => {
    const { agent } = make();
    await run(agent, { task: "go" });
    const state = agent.saveState();
    expect(state).toEqual({
      type: "BaseState",
      version: "1.0.0",
      troupe: { wrapped_agent_state: { replies: 1 } },
    });
    const copy = make();
    copy.agent.loadState(state);
    expect(copy.agent.saveState()).toEqual(state);
    copy.agent.loadState({ type: "BaseState", version: "1.0.0" });
    expect(copy.agent.saveState()).toEqual(state);
  });

  test.each<[JsonObject, string]>([
    [{ type: 1 }, "type"],
    [{ troupe: { wrapped_agent_state: 1 } }, "troupe.wrapped_agent_state"],
    [{ troupe: { wrapped_agent_state: { type: 1 } } }, "troupe.wrapped_agent_state"],
  ])("refuses the state %j", (state, place) => {
    expect(() => make().agent.loadState(state)).toThrow(place);
  });

  test("is rolled back with a turn that is given up", async () => {
    const { agent } = make();
    const tree = new StateTree(agent);
    await run(agent, { task: "go" });
    expect(tree.changes().heads.map(({ path }) => path)).toEqual(["wrapped_agent"]);
    tree.rollback();
    expect(agent.saveState()).toMatchObject({ troupe: { wrapped_agent_state: { replies: 0 } } });
  });
});

test("component JSON keeps the filter, without its nulls", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const json = (filter: JsonObject) => ({
    provider: "autogen_agentchat.agents.MessageFilterAgent",
    config: {
      name: "picky",
      wrapped_agent: {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        config: { name: "human" },
      },
      filter: { per_source: [filter] },
    },
  });
  const agent = registry.load<MessageFilterAgent>(
    json({ source: "a", position: null, count: null }),
    "agent",
  );
  expect(dumpComponent(agent).config["filter"]).toEqual({ per_source: [{ source: "a" }] });
  expect(registry.validate(json({ source: "a", count: 0 }))).toEqual([
    {
      path: "component.config.filter.per_source[0].position",
      message: 'must be "first" or "last" when there is a count',
    },
  ]);
});
