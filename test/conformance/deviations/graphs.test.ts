import { describe, expect, test } from "vitest";
import {
  Catalog,
  ComponentRegistry,
  coreComponents,
  run,
  type Json,
  type JsonObject,
  type RunOptions,
} from "troupe";
import type { Component, Runnable } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { InMemory } from "../in-memory.ts";
import { type Outcome, play as playOn } from "../play.ts";
import { readTrace } from "../read-trace.ts";
import type { Trace } from "../trace.ts";

const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));

const agent = (name: string, ...replies: string[]): JsonObject => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: "Helps.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: replies },
    },
  },
});

const graph = (
  participants: JsonObject[],
  edges: { [node: string]: JsonObject[] },
  config: JsonObject = {},
): Component & Runnable =>
  registry.load(
    {
      provider: "autogen_agentchat.teams.GraphFlow",
      config: {
        participants,
        graph: {
          nodes: Object.fromEntries(
            Object.entries(edges).map(([name, list]) => [name, { name, edges: list }]),
          ),
        },
        ...config,
      },
    },
    "team",
  );

async function said(team: Runnable, task?: RunOptions["task"]): Promise<string[]> {
  const { messages } = await run(team, { task: task ?? null });
  return messages.map((message) => `${message.source}: ${String(message["content" as never])}`);
}

const limit = (max_messages: number): JsonObject => ({
  termination_condition: {
    provider: "autogen_agentchat.conditions.MaxMessageTermination",
    config: { max_messages },
  },
});

describe("the difference in Troupe", () => {
  test("wave: all messages of agents that ran side by side count, in the order of selection", async () => {
    const parts = ["a", "b", "c", "d"].map((name) => agent(name, "1", "2"));
    const edges = {
      a: [{ target: "b" }, { target: "c" }],
      b: [{ target: "d" }],
      c: [{ target: "d" }],
      d: [],
    };
    const team = graph(parts, edges, limit(4));
    expect(await said(team, "go")).toEqual(["user: go", "a: 1", "b: 1", "c: 1"]);
    expect(await said(team)).toEqual(["d: 1"]);
  });

  test("task-source: a task fires no edges", async () => {
    const team = graph([agent("a", "1"), agent("b", "1")], { a: [{ target: "b" }], b: [] });
    const task = { type: "TextMessage", source: "a", content: "hello" } as const;
    expect(await said(team, task)).toEqual(["a: hello", "a: 1", "b: 1"]);
  });

  test("nested-speaker: a team speaks under its participant name", async () => {
    const inner: JsonObject = {
      provider: "autogen_agentchat.teams.RoundRobinGroupChat",
      config: { name: "inner", participants: [agent("x", "PASS")], max_turns: 1 },
    };
    const edges = { inner: [{ target: "b", condition: "PASS" }], b: [] };
    expect(await said(graph([inner, agent("b", "1")], edges), "go")).toEqual([
      "user: go",
      "x: PASS",
      "b: 1",
    ]);
  });

  test("graph-end: the stop reason names the conditions and the agents that never spoke", async () => {
    const parts = [agent("a", "neither"), agent("b", "1"), agent("c", "1")];
    const edges = {
      a: [
        { target: "b", condition: "YES" },
        { target: "c", condition: "NO" },
      ],
      b: [],
      c: [],
    };
    const { stop_reason } = await run(graph(parts, edges), { task: "go" });
    expect(stop_reason).toBe(
      'Digraph execution cannot continue: the last message of "a" matches no condition of its edges: "YES" (to "b"), "NO" (to "c"); never spoke: "b", "c"',
    );
  });

  const loop = (...replies: string[]): Component & Runnable =>
    graph(
      [agent("s", "1"), agent("w", "1", "2", "3"), agent("r", ...replies), agent("end", "1")],
      {
        s: [{ target: "w" }],
        w: [{ target: "r" }],
        r: [
          { target: "w", condition: "AGAIN", activation_group: "back" },
          { target: "end", condition: "FINE" },
        ],
        end: [],
      },
      { max_turns: 3 },
    );

  test("loop-state: a graph saved in the middle of a loop runs the loop again", async () => {
    const before = loop("AGAIN");
    await said(before, "go");
    const after = loop("AGAIN", "FINE");
    after.loadState(before.saveState());
    expect(await said(after)).toEqual(["w: 1", "r: AGAIN", "w: 2"]);
    expect(await said(after)).toEqual(["r: FINE", "end: 1"]);
  });

  test("lost-state: the parts of a join that have arrived are saved", async () => {
    const parts = (): JsonObject[] => ["a", "b", "c", "d"].map((name) => agent(name, "1"));
    const edges = {
      a: [{ target: "b" }, { target: "d" }],
      b: [{ target: "c" }],
      c: [{ target: "d" }],
      d: [],
    };
    const before = graph(parts(), edges, { max_turns: 1 });
    await said(before, "go");
    const after = graph(parts(), edges);
    after.loadState(before.saveState());
    expect(await said(after)).toEqual(["b: 1", "c: 1", "d: 1"]);
  });

  test("after-error: a graph that AutoGen saved after a failure runs", async () => {
    const team = graph([agent("a", "1"), agent("b", "1")], { a: [{ target: "b" }], b: [] });
    const state = team.saveState() as { agent_states: { GraphManager: JsonObject } };
    state.agent_states.GraphManager["ready"] = [];
    delete state.agent_states.GraphManager["troupe"];
    team.loadState(state);
    expect(await said(team, "go")).toEqual(["user: go", "a: 1", "b: 1"]);
  });
});

describe("an unlisted deviation is recognised, and nothing else is accepted", () => {
  const folder = new URL("../traces/graph_flow/", import.meta.url);
  const recorded = (name: string): Trace => readTrace(new URL(`${name}.json`, folder).pathname);
  const play = (trace: Trace): Promise<Outcome> => playOn(trace, InMemory.of(trace), []);

  /** A trace with something changed in every object that has it. */
  const changed = (trace: Trace, change: (node: JsonObject) => Json | undefined): Trace =>
    JSON.parse(
      JSON.stringify(trace, (_key, value: Json) =>
        isJsonObject(value) ? (change(value) ?? value) : value,
      ),
    ) as Trace;

  test.each([
    ["wave_limit", 0, "wave"],
    ["task_from_node", 0, "task-source"],
    ["conditions", 3, "graph-end"],
    ["loop_loaded", 4, "loop-state"],
    ["counts_loaded", 5, "loop-state"],
    ["team_inside", 0, "nested-speaker"],
  ])("%s", async (name, step, kind) => {
    const outcome = await play(recorded(name));
    expect(outcome.failure).toBeUndefined();
    expect(outcome.deviations).toContainEqual({ step, class: kind });
  });

  test("wave: it needs a condition, and equal messages", async () => {
    const trace = recorded("wave_limit");
    const without = changed(trace, (node) =>
      "termination_condition" in node ? { ...node, termination_condition: null } : undefined,
    );
    without.steps[0]!["events"] = (without.steps[0]!["events"] as Json[]).toSpliced(4, 1);
    expect((await play(without)).failure).toMatchObject({ step: 0 });
    const less = structuredClone(trace);
    less.steps[0]!["events"] = (less.steps[0]!["events"] as Json[]).toSpliced(2, 1);
    expect((await play(less)).failure).toMatchObject({ step: 0 });
  });

  test("task-source: it needs a source that is a node and takes an edge", async () => {
    const trace = recorded("task_from_node");
    const step = trace.steps[0]!;
    const other = structuredClone(trace);
    other.steps[0]!["task"] = { ...(step["task"] as JsonObject), source: "b" };
    expect((await play(other)).failure).toMatchObject({ step: 0 });
    const conditional = changed(trace, (node) =>
      "target" in node && !("condition" in node) ? { ...node, condition: "never" } : undefined,
    );
    expect((await play(conditional)).failure).toMatchObject({ step: 0 });
  });

  test("graph-end: it needs equal messages", async () => {
    const trace = recorded("conditions");
    const other = structuredClone(trace);
    (other.steps[3]!["events"] as JsonObject[])[1]!["content"] = "something else";
    expect((await play(other)).failure).toMatchObject({ step: 3 });
  });

  test("loop-state: it needs a state that was loaded in the middle", async () => {
    const trace = recorded("loop_loaded");
    const atRest = changed(trace, (node) =>
      isJsonObject(node["remaining"])
        ? { ...node, remaining: { r: { r: 1 }, w: { w: 1 }, end: { end: 1 } } }
        : undefined,
    );
    atRest.steps.splice(1, 1);
    expect((await play(atRest)).failure).toMatchObject({ step: 3 });
    const saved = recorded("counts_loaded");
    expect((await play(saved)).failure).toBeUndefined();
    const elsewhere = structuredClone(saved);
    const state = elsewhere.steps[5]!["state"] as { agent_states: { GraphManager: JsonObject } };
    state.agent_states.GraphManager["ready"] = ["d"];
    expect((await play(elsewhere)).failure).toMatchObject({ step: 5 });
  });
});
