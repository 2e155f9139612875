import { describe, expect, test } from "vitest";
import type { ComponentModel, Json, JsonObject } from "troupe";
import { agent, counter, Signal, TestTeam, texts, value } from "../support/team.ts";

/** A graph of these participants: edges by name, an edge as the name of its target or with its condition. */
function graph(
  participants: readonly ComponentModel[],
  edges: { [node: string]: readonly (string | JsonObject)[] },
  config: JsonObject = {},
): ComponentModel {
  const nodes = Object.entries(edges).map(([name, list]) => [
    name,
    { name, edges: list.map((edge) => (typeof edge === "string" ? { target: edge } : edge)) },
  ]);
  return {
    provider: "GraphFlow",
    config: {
      participants: participants as unknown as Json,
      graph: { nodes: Object.fromEntries(nodes) },
      ...config,
    },
  };
}

function human(name: string): ComponentModel {
  return { provider: "UserProxyAgent", config: { name } };
}

const DIAMOND = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] };

describe("nodes side by side", () => {
  test("an interruption repeats only the step that was running, whichever node it was in", async () => {
    const calls: string[] = [];
    const held = { b: new Signal(), c: new Signal() };
    const steps = (name: "b" | "c", slow: boolean): ComponentModel =>
      agent(name, async function* (_self, ctx) {
        yield* [];
        await ctx.step("first", () => {
          calls.push(`${name} first`);
          return Promise.resolve(null);
        });
        return ctx.step("second", async () => {
          calls.push(`${name} second`);
          if (slow && calls.filter((call) => call === `${name} second`).length === 1) {
            held[name].set();
            await new Promise(() => {});
          }
          return `${name} is done`;
        });
      });
    const team = await TestTeam.create(
      graph([counter("a"), steps("b", true), steps("c", false), counter("d")], DIAMOND),
    );
    const { id } = await team.start("go");
    await held.b.wait();
    await team.evict();
    const said = texts(await team.finished(id)).map(String);
    expect(said.toSorted()).toEqual(["a 1", "b is done", "c is done", "d 1", "go"]);
    expect(calls.toSorted()).toEqual(["b first", "b second", "b second", "c first", "c second"]);
  });

  test("two humans are asked at once and answer in any order, days apart", async () => {
    const team = await TestTeam.create(
      graph([counter("a"), human("b"), human("c"), counter("d")], DIAMOND),
    );
    const { id } = await team.start("go");
    const waiting = await team.rested(id);
    expect(waiting).toMatchObject({ status: "waiting", turns: 1 });
    expect(waiting.requests.map(({ source }) => source)).toEqual(["b", "c"]);
    const [b, c] = waiting.requests;
    await team.evict();
    value(await team.gateway.answer(id, c!.id, { content: "from c" }));
    expect(await team.rested(id)).toMatchObject({ status: "waiting", requests: [{ id: b!.id }] });
    await team.evict();
    value(await team.gateway.answer(id, b!.id, { content: "from b" }));
    const run = await team.finished(id);
    expect(run.stop_reason).toBe("Digraph execution is complete");
    const thread = value(await team.gateway.saveState()) as {
      agent_states: { GraphManager: { message_thread: { content: string }[] } };
    };
    expect(
      thread.agent_states.GraphManager.message_thread
        .map(({ content }) => content)
        .filter((content) => content !== ""),
    ).toEqual(["go", "a 1", "from b", "from c", "d 1"]);
  });

  test("a node with two ways in speaks twice in one turn, each step of its own", async () => {
    const effects: string[] = [];
    const b = counter("b", () => effects.push("b"));
    const edges = {
      a: [
        { target: "b", activation_group: "x" },
        { target: "b", activation_group: "y" },
      ],
      b: [],
    };
    const team = await TestTeam.create(graph([counter("a"), b], edges));
    const { id } = await team.start("go");
    const run = await team.finished(id);
    expect(texts(run)).toEqual(["go", "a 1", "b 1", "b 2"]);
    expect(run.turns).toBe(2);
    expect(effects).toEqual(["b", "b"]);
  });
});

describe("the place of a run in a graph", () => {
  test("outlives the object between runs, joins that wait included", async () => {
    const edges = { a: ["b", "d"], b: ["c"], c: ["d"], d: [] };
    const agents = Object.keys(edges).map((name) => counter(name));
    const team = await TestTeam.create(graph(agents, edges, { max_turns: 1 }));
    const said: unknown[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const { id } = await team.start(null);
      said.push(...texts(await team.finished(id)));
      await team.evict();
    }
    expect(said).toEqual(["a 1", "b 1", "c 1", "d 1", "a 2"]);
  });

  test("is copied to a fork", async () => {
    const edges = { a: ["b"], b: ["c"], c: [] };
    const agents = Object.keys(edges).map((name) => counter(name));
    const team = await TestTeam.create(graph(agents, edges, { max_turns: 2 }));
    const { id } = await team.start("go");
    await team.finished(id);
    const fork = await team.fork();
    for (const one of [team, fork]) {
      const { id: next } = await one.start(null);
      expect(texts(await one.finished(next))).toEqual(["c 1"]);
    }
  });
});

test("a stored graph that cannot run fails the run before anything is said, and can be replaced", async () => {
  const agents = [counter("a"), counter("b")];
  const team = await TestTeam.create(graph(agents, { a: ["b"], b: ["a"] }));
  const { id } = await team.start("go");
  expect(await team.finished(id)).toMatchObject({
    status: "failed",
    error: { type: "component_value", message: expect.stringContaining("no node is a start") },
  });
  value(await team.gateway.replaceComponent(graph(agents, { a: ["b"], b: [] })));
  const { id: next } = await team.start("again");
  expect(texts(await team.finished(next))).toEqual(["again", "a 1", "b 1"]);
});
